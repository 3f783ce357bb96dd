"""fairfr calibrate as people call it, and calibrators in MLflow: logged, registered, loaded, served."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairfr
from fairfr.core.errors import DataError
from fairfr.library.mlflow_model import described, input_example, log_model, predict
from fairfr.store.mlflow.client import MlflowError, default_uri
from fairfr.store.mlflow.log import MlflowWriter
from fairfr.store.settings import StoreSettings
from fairfr.sweep.mlflow_metrics import describe_run

PATIENCE = 100.0  # seconds: importing MLflow on a busy machine is no fault
# mlflow starts uvicorn by its name, which lies beside this Python whether or not the environment is activated
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "COLUMNS": "160",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}


@pytest.fixture
def calibrate(command: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: command("calibrate", *arguments)


def test_from_data_to_a_threshold(
    calibrate: Callable[..., Any], tmp_path: Path, write_set: Callable[..., Path]
) -> None:
    data_root = write_set()
    overrides = ["dataset=mine", "backbone=mynet", "method=ac_linear", "dataset.grouping=[gender]", "threads=1"]
    chosen = [*overrides, f"data_root={data_root}", "store=folder", "out_root=out"]
    done = calibrate("fit", *chosen, "--out", "mine.fairfr")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "AUROC" in done.stdout and "mine.fairfr (ACLinear, fitted on all 120 pairs)" in done.stdout
    assert "in the file: no face vectors" in done.stdout

    # the held-out summary is that of the run, and the model that of the library on the same pairs
    model = fairfr.load(tmp_path / "mine.fairfr")
    assert model.origin_ is not None
    run = tmp_path.joinpath("out", "runs", *model.origin_["run"].values())
    stored = json.loads((run / "result.json").read_text())
    auroc = next(row for row in stored["metrics"] if row["metric"] == "auroc" and row["group"] == "all")
    assert model.origin_["held_out"][0]["mean"] == auroc["mean"]
    images = np.load(data_root / "mine" / "embeddings" / "mynet.npz")
    pairs = pd.read_csv(data_root / "mine" / "pairs.csv")
    place = {id: row for row, id in enumerate(images["image"])}
    rows = np.array([[place[a], place[b]] for a, b in zip(pairs["left"], pairs["right"], strict=True)])
    by_hand = fairfr.ACLinear().fit(images["vectors"], rows, pairs["same"].to_numpy())
    expected = by_hand.probability(images["vectors"], rows)
    np.testing.assert_allclose(model.probability(images["vectors"], rows), expected, rtol=1e-6)

    scored = calibrate(
        *("score", "--model", "mine.fairfr", "--pairs", data_root / "mine" / "pairs.csv"),
        *("--embeddings", data_root / "mine" / "embeddings" / "mynet.npz", "--out", "scores.csv"),
    )
    assert scored.stdout == "scores.csv: 120 pairs scored\n", scored.stderr
    np.testing.assert_allclose(pd.read_csv(tmp_path / "scores.csv")["probability"], expected, rtol=1e-6)

    asked = calibrate("threshold", "--model", "mine.fairfr", "--fmr", "0.1", "--out-root", "out", "--json")
    found = json.loads(asked.stdout)
    held_out = pd.read_parquet(run / "scores.parquet")
    passed = held_out["probability"] >= found["threshold"]
    assert found["all"]["fmr"]["errors"] == int((passed & ~held_out["same"]).sum()) <= 6
    assert {group["name"] for group in found["groups"]} == {"female", "male"}
    kept = calibrate("threshold", "--model", "mine.fairfr", "--fmr", 0.1, 0.2, "--out-root", "out", "--keep")
    assert kept.returncode == 0 and kept.stdout.count("FNMR") >= 2 and "kept in mine.fairfr" in kept.stdout
    model = fairfr.load(tmp_path / "mine.fairfr")
    assert model.threshold(fmr=0.1, confident=False) == found["threshold"]
    assert model.threshold(fmr=0.2) > model.threshold(fmr=0.2, confident=False)
    assert model.thresholds_[1]["all"]["fmr"] == found["all"]["fmr"]
    with pytest.raises(DataError, match=r"fairfr calibrate threshold --model FILE --fmr 0\.001 --keep"):
        model.threshold(fmr=1e-3)

    page = calibrate("inspect", "mine.fairfr").stdout
    assert "ACLinear(C=1.0, solver='sklearn')" in page and "of width 12" in page and "worst group" in page
    assert "contains      no face vectors" in page and "threshold     probability for FMR 0.2: >= 0." in page
    genuine = int(held_out["same"].sum())
    told = f"for evaluate  new pairs are compared with {genuine:,} genuine and {len(held_out) - genuine:,} impostor"
    assert f"{told} held-out pairs (Cllr " in page


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_face_vectors_are_registered_only_where_that_is_asked_for(
    calibrate: Callable[..., Any], out: Path, tmp_path: Path, write_set: Callable[..., Path]
) -> None:
    import mlflow

    data_root = write_set()
    where = [f"data_root={data_root}", f"out_root={out}", f"store.patience={PATIENCE}"]
    chosen = ["dataset=mine", "backbone=mynet", "method=ac_density", "threads=1", *where]
    command = ["fit", *chosen, "--out", "mine.fairfr", "--register", "mine"]
    refused = calibrate(*command)
    assert refused.returncode == 1 and "Traceback" not in refused.stderr
    images = len(np.load(data_root / "mine" / "embeddings" / "mynet.npz")["image"])
    told = f"numbers made of {images} face vectors of training images: treat as biometric data"
    assert f"in the file: {told}" in refused.stdout
    assert (
        "mine.fairfr is written, but not registered" in refused.stdout
        and "--with-face-vectors --force" in refused.stdout
    )
    assert told in calibrate("inspect", "mine.fairfr").stdout
    client = mlflow.MlflowClient(default_uri(out))
    assert client.search_registered_models() == []
    experiment = client.get_experiment_by_name("fairfr")
    assert not client.search_logged_models([experiment.experiment_id])

    done = calibrate(*command, "--with-faces", "--force")
    assert done.returncode == 0 and "models:/mine/1" in done.stdout, done.stderr
    assert told in client.get_model_version("mine", "1").description


def test_a_model_is_replaced_only_by_force(
    calibrate: Callable[..., Any], tmp_path: Path, write_set: Callable[..., Path]
) -> None:
    data_root = write_set()
    chosen = ["dataset=mine", "backbone=mynet", "method=platt", f"data_root={data_root}", "store=folder", "threads=1"]
    (tmp_path / "m.fairfr").write_text("of last year")
    done = calibrate("fit", *chosen, "out_root=out", "--out", "m.fairfr")
    assert done.returncode == 1 and "m.fairfr is there already" in done.stdout and "--force" in done.stdout
    assert (tmp_path / "m.fairfr").read_text() == "of last year" and not (tmp_path / "out" / "runs").exists()
    done = calibrate("fit", *chosen, "out_root=out", "--out", "m.fairfr", "--force")
    assert done.returncode == 0 and fairfr.load(tmp_path / "m.fairfr").training_["pairs"] == 120


def test_swapped_labels_are_run_with_a_warning_and_not_fitted(
    calibrate: Callable[..., Any], tmp_path: Path, write_set: Callable[..., Path]
) -> None:
    data_root = write_set()
    pairs = pd.read_csv(data_root / "mine" / "pairs.csv")
    pairs.assign(same=1 - pairs["same"]).to_csv(data_root / "mine" / "pairs.csv", index=False)
    chosen = ["dataset=mine", "backbone=mynet", "method=baseline", f"data_root={data_root}", "store=folder"]
    done = calibrate("fit", *chosen, "out_root=out", "threads=1", "--out", "m.fairfr")
    assert done.returncode == 1 and "are the labels swapped?" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "m.fairfr").exists()
    (run,) = tmp_path.glob("out/runs/mine/mynet/baseline/*/result.json")
    assert "reversed-cosines" in {found["code"] for found in json.loads(run.read_text())["warnings"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "method=ac_linar", "--out", "m.fairfr"), "Did you mean 'ac_linear'"),
        (("fit", "-m", "method=platt,beta", "--out", "m.fairfr"), "one configuration"),
        (("fit", "--out", "no/m.fairfr"), "there is no folder"),
        (("inspect", "none.fairfr"), "none.fairfr"),
        (("threshold", "--model", "none.fairfr", "--fmr", "2"), "--fmr 2"),
    ],
)
def test_mistakes_are_one_sentence(
    calibrate: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = calibrate(*arguments)
    assert done.returncode == 1 and message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr and not any(tmp_path.glob("*.fairfr"))


def small_models() -> dict[str, Any]:
    """Models of each kind of input."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 6))
    pairs = rng.permutation([(i, j) for i in range(40) for j in range(i)])[:300]
    same, groups = rng.random(300) < 0.5, {"half": np.where(np.arange(40) < 20, "lower", "upper")}
    return {
        "vectors": fairfr.ACLinear().fit(vectors, pairs, same),
        "groups": fairfr.Oracle().fit(vectors, pairs, same, groups=groups),
        "scores": fairfr.Platt().fit_scores(rng.random(300), same),
        "scale": fairfr.Platt().fit_scores(300 + rng.random(300), same, score_range=(300, 301)),
    }


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_a_pyfunc_gives_what_the_library_gives(tmp_path: Path) -> None:
    import mlflow.pyfunc

    for name, model in small_models().items():
        model.save(tmp_path / f"{name}.fairfr")
        mlflow.pyfunc.save_model(tmp_path / name, **described(tmp_path / f"{name}.fairfr"))
        loaded = mlflow.pyfunc.load_model(str(tmp_path / name))
        table = input_example(model)
        if name == "groups":
            table["left_half"] = table["right_half"] = ["lower", "upper"]
        pd.testing.assert_frame_equal(loaded.predict(table), predict(model, table))
        assert list(loaded.predict(table)) == ["score", "probability"]
        rare = loaded.predict(table, params={"prior": 0.001})
        assert list(rare) == ["score", "probability", "llr"]
        plain = loaded.predict(table)["probability"].to_numpy()
        np.testing.assert_allclose(rare["probability"], model.probability_at(plain, 0.001), rtol=1e-12)
        np.testing.assert_allclose(rare["llr"], model.llr_of(plain), rtol=1e-12)
        assert not any(path.suffix in (".pkl", ".pickle") for path in (tmp_path / name).rglob("*"))


@pytest.mark.filterwarnings("ignore")
def test_a_model_is_registered_under_its_run(
    cell: Callable[..., Any], small: tuple[str, ...], writer: MlflowWriter, out: Path, tmp_path: Path
) -> None:
    import mlflow

    store, path = StoreSettings("mlflow", experiment="fairfr", patience=PATIENCE), tmp_path / "m.fairfr"
    model = small_models()["vectors"]
    model.save(path)
    outcome = cell(*small, "method=platt")
    with pytest.raises(MlflowError, match=r"has no run .* fairfr sync"):
        log_model(store, out, path, str(outcome.key), "mine", "of no faces")
    writer.log_run(outcome.folder, describe_run)
    before = mlflow.get_tracking_uri()
    assert log_model(store, out, path, str(outcome.key), "mine", "of no faces") == "models:/mine/1"
    assert log_model(store, out, path, str(outcome.key), "mine", "of faces") == "models:/mine/2"
    assert mlflow.get_tracking_uri() == before and "MLFLOW_EXPERIMENT_ID" not in os.environ
    client = mlflow.MlflowClient(default_uri(out))
    said = [client.get_model_version("mine", version).description for version in "12"]
    assert said == ["fairfr calibrator, of no faces.", "fairfr calibrator, of faces."]
    assert client.get_registered_model("mine").description == "fairfr calibrator, of faces."
    client.update_registered_model("mine", description="for the gate")
    log_model(store, out, path, str(outcome.key), "mine", "of no faces")
    assert client.get_registered_model("mine").description == "for the gate"
    run = client.get_run(client.get_model_version("mine", "2").run_id)
    assert run.info.status == "FINISHED" and run.data.tags["run_key"] == str(outcome.key)
    logged = client.search_logged_models([run.info.experiment_id])
    assert [found.source_run_id for found in logged] == [run.info.run_id] * 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(model: Path) -> Iterator[str]:
    """The address of ``mlflow models serve``, which ends with the block, or when its time is out."""
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(model), "--env-manager", "local"]
    place = ["--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        [*command, *place], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    limit = threading.Timer(PATIENCE, lambda: os.killpg(server.pid, signal.SIGKILL))
    limit.start()
    try:
        assert server.stdout is not None
        said: list[str] = []
        for line in server.stdout:
            said.append(line)
            if "Uvicorn running" in line:
                break
        else:
            pytest.fail("the server ended: " + "".join(said))
        yield f"http://127.0.0.1:{port}/invocations"
    finally:
        limit.cancel()
        os.killpg(server.pid, signal.SIGKILL)
        server.communicate()


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_a_pyfunc_passes_on_what_is_wrong_with_a_request(tmp_path: Path) -> None:
    """In MLflow's kind of error: of any other its server tells the client nothing."""
    import mlflow.pyfunc
    from mlflow.exceptions import MlflowException

    small_models()["scores"].save(tmp_path / "m.fairfr")
    mlflow.pyfunc.save_model(tmp_path / "model", **described(tmp_path / "m.fairfr"))
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    with pytest.raises(
        MlflowException, match=r"DataError: cosine\[1\] is 7, but a cosine lies within -1\.\.1"
    ) as refused:
        loaded.predict(pd.DataFrame({"cosine": [0.3, 7.0]}))
    assert refused.value.error_code == "INVALID_PARAMETER_VALUE"


@pytest.mark.server
@pytest.mark.filterwarnings("ignore")
def test_mlflow_serves_a_calibrator(tmp_path: Path) -> None:
    import mlflow.pyfunc

    model = small_models()["vectors"]
    model.save(tmp_path / "m.fairfr")
    mlflow.pyfunc.save_model(tmp_path / "served", **described(tmp_path / "m.fairfr"))
    left, right = np.random.default_rng(5).normal(size=(2, 7, 6))
    rows = [[a.tolist(), b.tolist()] for a, b in zip(left, right, strict=True)]
    asked: dict[str, Any] = {"dataframe_split": {"columns": ["left", "right"], "data": rows}}
    answers = []
    with served(tmp_path / "served") as address:
        for body in (asked, {**asked, "params": {"prior": 0.001}}):
            request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                answers.append([row["probability"] for row in json.load(answer)["predictions"]])
        body = {**asked, "params": {"prior": 7.0}}
        request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE)
        assert refused.value.code == 400 and b"prior" in refused.value.read()
    np.testing.assert_allclose(answers[0], model.probability((left, right)), rtol=1e-12)
    np.testing.assert_allclose(answers[1], model.probability((left, right), prior=0.001), rtol=1e-12)
