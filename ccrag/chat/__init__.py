"""What is said to a language model and how its reply is read. Pure but for reading prompt files."""
