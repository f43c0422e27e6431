"""Requests to language models, their replies, and what is kept of both."""
