"""fairfr ui, from a checkout: open the MLflow page over the runs of an output folder."""

from fairfr.commands.ui import main

if __name__ == "__main__":
    main()
