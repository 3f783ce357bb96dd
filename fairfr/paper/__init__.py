"""What the paper prints and claims, and ours beside it."""
