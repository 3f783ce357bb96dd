"""One public file per method; what several methods share in _files."""
