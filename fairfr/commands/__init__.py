"""The commands of ``fairfr``: one public module each, with a ``main`` that reads ``sys.argv``.

There is no list to extend: a new module here is a new command, its name without a closing underscore, and the first
line of its docstring is what ``fairfr --help`` says of it. scripts/ has the same commands for a checkout.
"""
