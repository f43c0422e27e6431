"""Stages that ask the index or a model; the pure ones are in `retrieval` and `answering`."""
