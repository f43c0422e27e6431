"""Measures and validators."""
