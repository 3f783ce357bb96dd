"""fairfr sync, from a checkout: sync MLflow with the run folders."""

from fairfr.commands.sync import main

if __name__ == "__main__":
    main()
