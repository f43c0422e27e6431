"""Models behind small interfaces; torch and its like are imported when one is loaded."""
