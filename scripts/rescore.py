"""fairfr rescore, from a checkout: recompute metrics of stored runs without refitting."""

from fairfr.commands.rescore import main

if __name__ == "__main__":
    main()
