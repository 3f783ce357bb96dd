"""Run one cell, or with -m a sweep: python run.py dataset=rfw backbone=magface method=ac_density"""

import sys

from fairfr.__main__ import dispatch

if __name__ == "__main__":
    dispatch("run", sys.argv[1:])
