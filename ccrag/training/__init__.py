"""Learn from judged queries."""
