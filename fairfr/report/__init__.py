"""From stored results to tables people read."""
