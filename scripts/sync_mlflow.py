"""fairfr sync, from a checkout: bring MLflow up to the run folders."""

from fairfr.commands.sync import main

if __name__ == "__main__":
    main()
