"""Documents to passages: by sentences, by blocks, or where the meaning changes. Pure."""
