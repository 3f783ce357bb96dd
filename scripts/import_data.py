"""fairfr import, from a checkout: files that you already hold -> the neutral layout."""

from fairfr.commands.import_ import main

if __name__ == "__main__":
    main()
