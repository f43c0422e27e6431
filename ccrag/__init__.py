"""Question answering inside a given set of documents, with citations that can be checked."""

__version__ = "0.1.0"
