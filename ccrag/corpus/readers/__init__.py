"""Papers in the formats people have them in, as Markdown: one reader a format."""
