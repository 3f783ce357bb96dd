"""Fitted curves and ROC curves that several rooms use; knows no data set and no method."""
