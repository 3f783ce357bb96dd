"""MLflow as a mirror of the run folders, which are the truth: it can be deleted and rebuilt at any time.

mirror.py        the one class that the rest of fairfr uses: what is missing in MLflow is logged, within a time limit
marks.py         which runs and sweeps a store is known to have
process.py       a second Python process, because importing MLflow takes seconds
server.py        what runs there: requests in, answers out
writer.py        writes runs and sweeps with MLflow's client
describe.py      name, tags, parameters, data set and description of a run
names.py         metric names that MLflow accepts
views.py         saved views of MLflow's page
reading_back.py  results and page addresses from MLflow alone
logged_model.py  calibrators as MLflow models; served.py is their code, served_entry.py what MLflow runs to load it
client.py, address.py, errors.py
"""
