"""One file for each form of a table; each turns a Grid into text and decides nothing."""
