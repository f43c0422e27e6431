"""Documents to passages: load, sections, sentences, chunking. No engine, no models."""
