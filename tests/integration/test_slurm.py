"""The Slurm launcher against commands that behave like Slurm's, on this machine: no cluster has been at hand."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

HAS_SUBMITIT = importlib.util.find_spec("submitit") is not None
pytestmark = [pytest.mark.slow, pytest.mark.launcher, pytest.mark.skipif(not HAS_SUBMITIT, reason="needs submitit")]

# One script under four names. Jobs of an array run one after another, each in a process of its own.
SLURM = """#!{python}
import os, re, subprocess, sys
from pathlib import Path

name, state = Path(sys.argv[0]).name, Path({state!r})
if name == "sbatch":
    text = Path(sys.argv[-1]).read_text()
    (state / "batch.sh").write_text(text)
    subprocess.Popen([sys.executable, Path(sys.argv[0]).with_name("drive"), sys.argv[-1]], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print("Submitted batch job 7")
elif name == "drive":
    text = Path(sys.argv[1]).read_text()
    last = int(re.search(r"#SBATCH --array=0-(\\d+)", text)[1])
    cores = re.search(r"#SBATCH --cpus-per-task=(\\d+)", text)[1]
    for task in range(last + 1):
        (state / f"7_{{task}}").write_text("RUNNING")
        env = {{**os.environ, "SLURM_JOB_ID": str(7 + task), "SLURM_ARRAY_JOB_ID": "7", "SLURM_NODEID": "0",
               "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": cores, "SLURM_NTASKS": "1",
               "SLURM_JOB_NUM_NODES": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}}
        code = subprocess.run(["bash", sys.argv[1]], env=env).returncode
        (state / f"7_{{task}}").write_text("FAILED" if code else "COMPLETED")
elif name == "srun":
    command = sys.argv[sys.argv.index({python!r}):]
    sys.exit(subprocess.run(command).returncode)
elif name == "sacct":
    print("JobID|State|NodeList")
    for path in state.glob("7_*"):
        print(f"{{path.name}}|{{path.read_text()}}|here")
"""


@pytest.fixture
def slurm(tmp_path: Path) -> Path:
    """A folder with sbatch and its companions; what they were given is in ``state`` beside them."""
    folder, state = tmp_path / "bin", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    for name in ("sbatch", "srun", "sacct", "drive"):
        path = folder / name
        path.write_text(SLURM.format(python=sys.executable, state=str(state)))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def test_the_example_submits_an_array_whose_jobs_have_slurms_cores(
    run_py: Any, small: tuple[str, ...], slurm: Path, tmp_path: Path
) -> None:
    path = f"{slurm}{os.pathsep}{os.environ['PATH']}"
    example = ("hydra/launcher=slurm", "hydra.launcher.cpus_per_task=1", "hydra.launcher.partition=long")
    sweep = ("-m", *small, "dataset.grouping=[]", "store=folder", "method=beta,platt", "threads=null")
    done = run_py(*sweep, *example, PATH=path, OMP_NUM_THREADS="")
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert "2 runs: 2 computed, 0 already done, 0 failed" in done.stdout
    batch = (tmp_path / "state" / "batch.sh").read_text()
    for wanted in ("--array=0-1%2", "--partition=long", "--cpus-per-task=1", "--mem=4GB", "--time=240"):
        assert f"#SBATCH {wanted}\n" in batch, batch
    found = [json.loads(path.read_text()) for path in (tmp_path / "out").glob("runs/*/*/*/*/result.json")]
    assert [result["threads"] for result in found] == [1, 1], "as many as Slurm gave, not all of the node"
