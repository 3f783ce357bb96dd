"""fairfr import, from a checkout: convert existing files to fairfr's layout."""

from fairfr.commands.import_ import main

if __name__ == "__main__":
    main()
