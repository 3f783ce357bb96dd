"""MLflow has a copy of the run folders, which are the original: it can be deleted and rebuilt at any time.

client.py    open a store, read results and page addresses back
describe.py  names, tags, parameters, data set and description of a run
views.py     saved views of MLflow's page
log.py       log runs and sweeps
ledger.py    remember what was logged
"""
