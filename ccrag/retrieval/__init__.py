"""Pure ranking stages: no I/O, clock, randomness or settings objects."""
