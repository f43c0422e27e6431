"""Text to sentences, words, terms and sections. Pure."""
