"""What a job's worker sends back to the sweep."""

from __future__ import annotations

import pickle
import select

from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig

from fairfr.sweep.job import JobCallback


def test_an_answer_is_so_short_that_it_is_written_at_once_or_not_at_all() -> None:
    """Else a worker killed while it writes leaves the sweep waiting for the rest."""
    config = DictConfig({f"key_{i}": "x" * 100 for i in range(1000)})
    answer = JobReturn(["method=platt"] * 20, config, config, "/out/hydra/sweep/0", "run", JobStatus.COMPLETED)
    JobCallback().on_job_end(config, answer)
    assert len(pickle.dumps([answer])) < select.PIPE_BUF
    assert answer.return_value is None and answer.overrides, "what a sweeper reads"
