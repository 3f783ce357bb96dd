"""Passwords in addresses are shown nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.store.secrets import mask_config, mask_files, mask_passwords


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:s3cret@server:5000", "http://me:***@server:5000"),
        ("http://me:s3/c@ret@server:5000/x", "http://me:***@server:5000/x"),
        ("https://token@server/x", "https://***@server/x"),
        ("postgresql+psycopg2://me:s3cret@server/db?sslmode=on", "postgresql+psycopg2://me:***@server/db?sslmode=on"),
        ("postgresql://server/db?user=me&password=s3cret&x=1", "postgresql://server/db?user=me&password=***&x=1"),
        ("http://server:5000", "http://server:5000"),
        ("sqlite:////home/me@work/mlflow.db", "sqlite:////home/me@work/mlflow.db"),
        ("refused by http://me:s3cret@server:5000, twice", "refused by http://me:***@server:5000, twice"),
    ],
)
def test_passwords_are_masked_and_nothing_else(address: str, shown: str) -> None:
    assert mask_passwords(address) == shown and mask_passwords(shown) == shown
    assert mask_config({"store": {"uris": [address], "n": 1}}) == {"store": {"uris": [shown], "n": 1}}


def test_files_without_a_password_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("tracking_uri: http://server:5000\n")
    before = path.stat().st_mtime_ns
    mask_files(tmp_path, tmp_path / "missing")
    assert path.stat().st_mtime_ns == before and list(tmp_path.iterdir()) == [path]
