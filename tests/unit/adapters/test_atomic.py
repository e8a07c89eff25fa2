"""Files that are replaced as a whole."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from pytest_mock import MockerFixture

from adapters.files.atomic import replace_file


def test_two_threads_may_replace_one_file_at_once(tmp_path: Path) -> None:
    path, contents = tmp_path / "f", (b"a" * 5000, b"b" * 5000)
    barrier = Barrier(2)

    def replace(content: bytes) -> None:
        barrier.wait()
        replace_file(str(path), content)

    with ThreadPoolExecutor(2) as pool:
        for _ in range(200):
            list(pool.map(replace, contents))
            assert path.read_bytes() in contents

    assert list(tmp_path.iterdir()) == [path]


def test_what_an_attempt_could_not_remove_is_not_in_the_way_of_the_next(tmp_path: Path, mocker: MockerFixture) -> None:
    """A file system turns read-only between two calls, and is mended later."""
    path = tmp_path / "f"
    refusal = OSError(errno.EROFS, os.strerror(errno.EROFS))
    mocker.patch("os.rename", side_effect=refusal)
    mocker.patch("os.unlink", side_effect=refusal)
    with pytest.raises(OSError, match=f"{os.strerror(errno.EROFS)}: '{path}'"):
        replace_file(str(path), b"first")
    mocker.stopall()

    replace_file(str(path), b"second")

    assert path.read_bytes() == b"second"


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)

    replace_file(str(path), b"")

    assert path.exists()
