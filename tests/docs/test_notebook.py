"""docs/distances.ipynb still prints what it shows. When it is meant to change: pytest tests/docs --update-golden."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "distances.ipynb"


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of Jupyter, about its own future
def test_the_notebook_prints_what_it_shows(request: pytest.FixtureRequest) -> None:
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    shown = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    # sockets in the file system: neither a server nor a port is needed
    with tempfile.TemporaryDirectory() as folder:
        config = Config({"KernelManager": {"transport": "ipc", "ip": f"{folder}/kernel"}})
        client = NotebookClient(run, kernel_name="python3", config=config, timeout=300)
        client.record_timing, client.coalesce_streams = False, True
        client.execute()
    if request.config.getoption("--update-golden"):
        nbformat.write(run, NOTEBOOK)
        return
    assert printed(run) == printed(shown)
    assert n_pictures(run) == n_pictures(shown) == 1


def printed(notebook) -> list[str]:  # type: ignore[no-untyped-def]
    """What each cell of code wrote; pictures may differ by a pixel between machines."""
    texts = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts.append("".join(output.text for output in cell.outputs if output.output_type == "stream"))
    assert all(texts)
    return texts


def n_pictures(notebook) -> int:  # type: ignore[no-untyped-def]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)
