"""Build, change and delete what an index holds."""
