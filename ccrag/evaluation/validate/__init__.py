"""Validators of submission files, one module a format; stricter than the official tools."""
