"""Evidence sentences, answers and citations."""
