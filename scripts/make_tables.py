"""fairfr tables, from a checkout: the paper's tables and figures from what has run."""

from fairfr.commands.tables import main

if __name__ == "__main__":
    main()
