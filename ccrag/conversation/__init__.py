"""
A chat with documents: the dialogue as a value, its file, its commands, and how a question is asked.

Nothing here reads from a terminal or writes to one.
"""
