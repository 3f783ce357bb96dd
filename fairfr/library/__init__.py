"""Methods as objects that people fit on their own arrays, save, and use on new pairs."""
