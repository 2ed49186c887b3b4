"""Requirements of a release without building it, whatever the index offers."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envbisect.errors import UsageError
from envbisect.packages.config import IndexConfig
from envbisect.packages.metadata import MetadataReader, parse_metadata
from envbisect.packages.simple import PackageIndex
from envbisect.packages.sources import Index
from envbisect.packages.wheelzip import TAIL_BYTES, remote_member
from tests.packages.local_index import Served, metadata_text, publish, sdist, wheel

REQUIRES = ["b<2,>=1", 'c>=3; python_version < "3.12"', 'd; extra == "x"']
PYTHON = "3.11"


def reader(served: Served, cache: Path) -> MetadataReader:
    return MetadataReader(PackageIndex(IndexConfig(Index(f"{served.url}/simple")), cache))


def lines(found: object) -> list[str]:
    return [str(one) for one in getattr(found, "requires_dist")]  # noqa: B009 - None has none and must fail


def test_metadata_files_beside_the_wheels(served: Served, tmp_path: Path) -> None:
    served.add_archives("a", [wheel(tmp_path, "a", "1.0", REQUIRES, python=">=3.8")], metadata=True)
    found = reader(served, tmp_path / "cache").requirements_of("A", "1.0", python=PYTHON)
    assert found is not None
    assert lines(found) == REQUIRES
    assert found.requires_python == ">=3.8"
    assert [path for path, _, _ in served.log] == ["/simple/a/", "/files/a-1.0-py3-none-any.whl.metadata"]


def test_ranges_of_a_wheel(served: Served, tmp_path: Path) -> None:
    archive = wheel(tmp_path, "a", "1.0", REQUIRES)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_STORED) as opened:
        opened.writestr("big.bin", bytes(1 << 20))  # METADATA is far from the end now
    served.add_archives("a", [archive])
    assert lines(reader(served, tmp_path / "cache").requirements_of("a", "1.0", python=PYTHON)) == REQUIRES
    assert all("Range" in headers for path, headers, _ in served.log if path.startswith("/files"))


def test_a_server_without_ranges(served: Served, tmp_path: Path) -> None:
    served.ranges = False
    served.add_archives("a", [wheel(tmp_path, "a", "1.0", REQUIRES)])
    assert lines(reader(served, tmp_path / "cache").requirements_of("a", "1.0", python=PYTHON)) == REQUIRES


def test_folders(tmp_path: Path) -> None:
    index = publish(tmp_path / "simple", [wheel(tmp_path / "files", "a", "1.0", REQUIRES)])
    found = MetadataReader(PackageIndex(IndexConfig(Index(index)), tmp_path / "cache"))
    assert lines(found.requirements_of("a", "1.0", python=PYTHON)) == REQUIRES


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (metadata_text("a", "1.0", REQUIRES, level="2.2"), True),
        (metadata_text("a", "1.0", REQUIRES, level="2.1"), False),
        (metadata_text("a", "1.0", REQUIRES, level="2.4") + "Dynamic: Requires-Dist\n", False),
        (metadata_text("a", "1.0", REQUIRES, level="2.4") + "Dynamic: Description\n", True),
        ("", False),
    ],
)
def test_a_source_binds_only_if_it_says_so(served: Served, tmp_path: Path, text: str, known: bool) -> None:
    served.add_archives("a", [sdist(tmp_path, "a", "1.0", {"PKG-INFO": text, "src/a.egg-info/PKG-INFO": "x"})])
    found = reader(served, tmp_path / "cache").requirements_of("a", "1.0", python=PYTHON)
    assert (found is not None) == known
    if known:
        assert lines(found) == REQUIRES


def test_a_fitting_wheel_is_preferred(served: Served, tmp_path: Path) -> None:
    archives = [
        sdist(tmp_path, "a", "1.0", {"PKG-INFO": metadata_text("a", "1.0", ["source"], level="2.2")}),
        wheel(tmp_path, "a", "1.0", ["other"], tag="cp310-cp310-win_amd64"),
        wheel(tmp_path, "a", "1.0", ["right"], tag="cp311-none-any"),
    ]
    served.add_archives("a", archives)
    assert lines(reader(served, tmp_path / "cache").requirements_of("a", "1.0", python=PYTHON)) == ["right"]
    served.add_archives("b", [wheel(tmp_path, "b", "1.0", ["elsewhere"], tag="cp310-cp310-win_amd64")])
    assert lines(reader(served, tmp_path / "cache").requirements_of("b", "1.0", python=PYTHON)) == ["elsewhere"]


def test_what_was_read_is_kept_for_ever(served: Served, tmp_path: Path) -> None:
    served.add_archives("a", [wheel(tmp_path, "a", version, REQUIRES) for version in ("1.0", "2.0")], metadata=True)
    served.add_archives("s", [sdist(tmp_path, "s", "1.0", {"x": ""})])
    releases = [("a", "2.0"), ("a", "1.0"), ("s", "1.0"), ("a", "2.0")]
    first = reader(served, tmp_path / "cache").prefetch(releases, python=PYTHON)
    assert list(first) == releases[:3]
    assert first["s", "1.0"] is None
    assert lines(first["a", "1.0"]) == REQUIRES
    asked = len(served.log)
    assert reader(served, tmp_path / "cache").prefetch(releases, python=PYTHON) == first
    assert {path for path, _, _ in served.log[asked:]} == {"/simple/a/", "/simple/s/"}


def test_an_unpublished_release(served: Served, tmp_path: Path) -> None:
    served.add_archives("a", [wheel(tmp_path, "a", "1.0")])
    with pytest.raises(UsageError, match=r"a 1\.1 is not published"):
        reader(served, tmp_path / "cache").prefetch([("a", "1.0"), ("a", "1.1")], python=PYTHON)


def test_unreadable_requirements_are_unknown() -> None:
    assert parse_metadata(b"Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: b >= (not a version\n") is None


@given(
    before=st.integers(0, 3 * TAIL_BYTES),
    after=st.integers(0, 2 * TAIL_BYTES),
    stored=st.booleans(),
    comment=st.binary(max_size=40),
)
def test_any_layout_of_a_wheel(before: int, after: int, stored: bool, comment: bytes) -> None:
    import io

    buffer = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("padding", bytes(before), zipfile.ZIP_STORED)
        archive.writestr("a-1.dist-info/METADATA", "Name: a\n" * 50)
        archive.writestr("tail", bytes(after), zipfile.ZIP_STORED)
        archive.comment = comment.replace(b"PK", b"  ")
    data = buffer.getvalue()

    def read(first: int, last: int) -> bytes:
        return data[first:] if first < 0 else data[first : last + 1]

    assert remote_member(read, lambda name: name.endswith("METADATA")) == b"Name: a\n" * 50
    assert remote_member(read, lambda name: name == "absent") is None
    assert remote_member(lambda first, last: read(first, last)[:100], lambda name: name.endswith("METADATA")) is None


@pytest.mark.network
def test_against_pypi(tmp_path: Path) -> None:
    index = PackageIndex(IndexConfig(), tmp_path)
    try:
        found = MetadataReader(index).prefetch(
            [("httpx", "0.28.1"), ("torch", "2.10.0"), ("pyyaml", "5.3.1")], python=PYTHON
        )
    finally:
        index.close()
    assert "httpcore==1.*" in lines(found["httpx", "0.28.1"])
    assert any(line.startswith("nvidia-") for line in lines(found["torch", "2.10.0"]))
    assert found["pyyaml", "5.3.1"] is not None  # from a wheel for another platform
