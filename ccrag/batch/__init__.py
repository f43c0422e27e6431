"""Answers by provider batch: requests prepared, submitted in parts, replies made into a run."""
