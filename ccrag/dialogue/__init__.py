"""
What a dialogue adds to a query: wordings made of its turns. Pure: no I/O, no settings object.

A wording is a `Variant` like any other and gets lists of its own; see `retrieval.variants` for
those that a lone question has.
"""
