"""Rewrite a query: its variants, feedback, and the turns of a dialogue. Pure."""
