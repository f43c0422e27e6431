"""What is learnt from judged queries."""
