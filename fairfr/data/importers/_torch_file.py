"""Files of torch.save, through torch's own reader for untrusted files: tensors and plain containers alone."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairfr.core.errors import DataError
from fairfr.core.wording import first_line
from fairfr.data.importers.unpickle.arrays import TORCH_MAGIC

SAFE = (2, 6)  # older ones could be made to run code in spite of weights_only (CVE-2025-32434)
_OLD_FORM = b"\x80\x02\x8a\x0a" + TORCH_MAGIC.to_bytes(10, "little")


def is_torch(path: Path, start: bytes) -> bool:
    """Whether torch.save wrote the file: an archive with a ``data.pkl``, or, before torch 1.6, a row of pickles."""
    if not start.startswith(b"PK"):
        return start.startswith(_OLD_FORM)
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.rpartition("/")[2] == "data.pkl" for name in archive.namelist())
    except Exception:  # damaged: whoever reads archives will say so
        return False


def tensor_loader(path: Path) -> Callable[[], Any]:
    """Loads torch, and then, when called, what the file holds, with numpy arrays for tensors."""
    import torch

    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < SAFE:
        raise DataError(
            f"{path} was written by torch.save, and torch {torch.__version__} cannot read such files safely. "
            "Install a newer one: pip install 'torch>=2.6'."
        )

    def load() -> Any:
        try:
            return _arrays(torch.load(path, map_location="cpu", weights_only=True))
        except MemoryError:
            raise
        except Exception as error:  # damaged, more than tensors, more memory than is there: torch has one for each
            raise DataError(
                f"{path} is not a file of torch.save with tensors alone, or it is damaged ({first_line(error)}). Save "
                "{name: tensor} or {'names': [...], 'vectors': tensor}, or np.savez(path, image=ids, vectors=vectors)."
            ) from None

    return load


def _arrays(content: Any) -> Any:
    """``content`` with numpy arrays for its tensors, one level deep: vectors lie no deeper."""
    if isinstance(content, dict):
        return {key: _array(value) for key, value in content.items()}
    return _array(content)


def _array(value: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach()
    return (value.float() if value.dtype == torch.bfloat16 else value).numpy()
