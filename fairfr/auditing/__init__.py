"""Audit a deployed matcher, evaluate a calibrator: rates, bounds and calibration by group, on one page."""
