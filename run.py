"""Run one cell, or with -m a sweep: python run.py dataset=rfw backbone=magface method=ac_density"""

from fairfr.commands.run import main  # @hydra.main is there

if __name__ == "__main__":
    main()
