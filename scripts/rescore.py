"""fairfr rescore, from a checkout: metrics of stored runs anew, without refitting."""

from fairfr.commands.rescore import main

if __name__ == "__main__":
    main()
