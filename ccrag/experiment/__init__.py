"""Several runs over one query file: made, measured, compared, and shown in one report."""
