"""Files that users of the benchmarks already hold, turned into the neutral layout."""
