"""Linked documents as units that are read together."""
