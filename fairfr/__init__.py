"""fairfr: adaptive calibration for face verification, and the methods it competes with."""

__version__ = "0.1.0"
