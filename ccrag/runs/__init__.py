"""A pipeline over a query file: journal, resumption, output files."""
