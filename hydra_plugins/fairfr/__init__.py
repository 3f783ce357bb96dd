"""fairfr's sweeper. Every Hydra program of an environment imports these modules: they import Hydra alone."""
