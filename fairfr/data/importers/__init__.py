"""Convert existing files of the benchmarks, and users' own tables, to the neutral layout."""
