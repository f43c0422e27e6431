"""A chat with documents: the dialogue, its file, its commands, and how a question is asked."""
