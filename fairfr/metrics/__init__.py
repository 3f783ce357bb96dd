"""Pure functions of (same, values), and their application to groups."""
