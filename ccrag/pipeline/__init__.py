"""The stages of a query, in their order, and what they are made from."""
