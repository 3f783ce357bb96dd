"""The numbers that the paper prints, as data."""
