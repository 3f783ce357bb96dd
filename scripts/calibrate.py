"""fairfr calibrate, from a checkout: fit a calibrator, score new pairs with it, find its threshold."""

from fairfr.commands.calibrate import main

if __name__ == "__main__":
    main()
