"""The nouns of fairfr: frozen types, errors, run keys. numpy only."""
