"""The nouns of fairfr: frozen types, errors, configuration, run keys. numpy only."""
