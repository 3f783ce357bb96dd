"""A network's fit does not depend on what ran before it: neither on where numpy put an array nor on torch's threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from fairfr.core.calibrator import FitContext
from fairfr.core.types import VerificationSet
from fairfr.methods._networks import to_tensor, torch_thread_limit
from fairfr.methods.ac_mlp import ACMLP
from fairfr.methods.frappe import Frappe
from fairfr.pairs.table import PairTable
from fairfr.pairs.view import PairView

Network = Callable[[], ACMLP | Frappe]
NETWORKS = [
    pytest.param(lambda: ACMLP(hidden=64, epochs=2, batch=128), id="ac_mlp"),
    pytest.param(lambda: Frappe(clusters=4, max_steps=20), id="frappe"),
]


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def fit_and_predict(data: VerificationSet, make: Network) -> bytes:
    method, table = make(), PairTable(data)
    train, test = np.flatnonzero(data.fold != 0), np.flatnonzero(data.fold == 0)
    ctx = FitContext(0, data.id, data.backbone, "0", threads=1)
    method.fit(PairView(table, train, method.needs), data.same[train], ctx)
    return method.predict(PairView(table, test, method.needs)).score.tobytes()


@pytest.mark.parametrize("offset", range(0, 64, 4))
def test_a_tensor_starts_where_torch_would_put_it(offset: int) -> None:
    memory = np.zeros(64 + 4 * 35 + 64, dtype=np.uint8)
    start = -memory.ctypes.data % 64 + offset
    array = memory[start : start + 4 * 35].view(np.float32).reshape(7, 5)
    array[:] = np.arange(35).reshape(7, 5)
    tensor = to_tensor(array)
    assert tensor.data_ptr() % 64 == 0
    assert tensor.tolist() == array.tolist()
    array[:] = -1
    assert tensor[0, 0] == 0  # a copy


@pytest.mark.parametrize("make", NETWORKS)
def test_every_input_of_a_network_lies_in_torchs_own_memory(
    synthetic_set: Callable[..., VerificationSet], make: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []
    forward = torch.nn.Sequential.forward

    def spy(network: torch.nn.Sequential, x: torch.Tensor) -> torch.Tensor:
        starts.append(x.data_ptr() % 64)
        return forward(network, x)

    monkeypatch.setattr(torch.nn.Sequential, "forward", spy)
    fit_and_predict(synthetic_set("rfw", scale=0.03), make)
    assert len(starts) > 10
    assert not any(starts)


@pytest.mark.parametrize("make", NETWORKS)
def test_threads_left_behind_change_nothing_and_none_are_left(
    synthetic_set: Callable[..., VerificationSet], make: Network
) -> None:
    data = synthetic_set("rfw", scale=0.03)
    found = set()
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.add(fit_and_predict(data, make))
        assert torch.get_num_threads() == threads
    assert len(found) == 1


def test_threads_are_given_back_after_an_error() -> None:
    torch.set_num_threads(2)
    with pytest.raises(ZeroDivisionError), torch_thread_limit(1):
        assert torch.get_num_threads() == 1
        _ = 1 / 0
    assert torch.get_num_threads() == 2
