"""Calibrators to take home: fitted on all folds of a cell, told what they do, used on new pairs."""
