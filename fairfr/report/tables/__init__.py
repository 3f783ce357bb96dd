"""Tables before they are drawn: rows, columns, entries and notes."""
