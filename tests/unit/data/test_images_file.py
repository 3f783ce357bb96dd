"""The images table in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.data.images_file import ImageTable


def test_one_endless_id_does_not_widen_all_others() -> None:
    ids = (*(f"i{k}" for k in range(100_000)), "x" * 999)  # 400 MB as numpy would keep them
    images = ImageTable(Path("images.csv"), ids, np.zeros(len(ids), np.int32), {})
    with pytest.raises(DataError, match=r"images\.csv.*999 characters"):
        images.id_array()
    assert images.keep(np.arange(len(ids)) < 10).id_array().tolist() == list(ids[:10])
