"""Shared-task file formats: what a record looks like, and reading and writing it."""
