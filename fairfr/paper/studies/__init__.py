"""The studies: one file for each, which makes its table, its figure and the numbers that claims are judged by."""
