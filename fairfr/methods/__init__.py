"""One public file per method; shared numerics in _files."""
