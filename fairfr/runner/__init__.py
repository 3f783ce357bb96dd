"""Run one cell: folds x fit x predict, then metrics."""
