"""Whatever file is named: one clear error, at once, never a traceback or a hang."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from envbisect.errors import ManifestError
from envbisect.manifest import load, load_any


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 1024**3)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _bytes(content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (lambda path: None, "cannot be read: no such file"),
    "folder": (Path.mkdir, "is a folder"),
    "pipe": (_fifo, "no regular file"),
    "huge": (_sparse, "large"),
    "symlink loop": (_loop, "cannot be read"),
    "binary": (_bytes(b"schema = 1\n\x00\x01"), "binary"),
    "not utf-8": (_bytes(b'schema = 1\nname = "caf\xe9"\n'), ":2: not UTF-8: byte 0xe9"),
    "utf-16": (_bytes("schema = 1\n".encode("utf-16")), "binary"),
    "syntax": (_bytes(b"schema = 1\n\nname = \n"), ":3: not valid TOML: invalid value"),
    "duplicate key": (_bytes(b"schema = 1\nname = 'a'\nname = 'b'\n"), ":3: not valid TOML"),
    "deep arrays": (_bytes(b"schema = 1\nx = " + b"[" * 100_000), "nested too deeply"),
    "deep tables": (_bytes(b"schema = 1\n[a" + b".a" * 900 + b"]\n"), "nested more than"),
    "deep inline": (_bytes(b"schema = 1\nx = " + b"{a=" * 200 + b"1" + b"}" * 200), "nested more than"),
    "control character": (_bytes(b'schema = 1\nname = "\x07"\n'), ":2: not valid TOML"),
}


@pytest.mark.parametrize("reader", [load, lambda path: load_any(str(path))], ids=["load", "load_any"])
@pytest.mark.parametrize("kind", HOSTILE)
def test_one_clear_error(tmp_path: Path, kind: str, reader: Callable[[Path], object]) -> None:
    make, message = HOSTILE[kind]
    path = tmp_path / "m.toml"
    make(path)

    with pytest.raises(ManifestError) as raised:
        reader(path)

    assert message in raised.value.message
    assert raised.value.message.startswith(str(path))
    assert raised.value.hint
    assert "\n" not in raised.value.message
    assert len(raised.value.faults) == 1


def test_a_file_that_fails_while_it_is_read() -> None:
    with pytest.raises(ManifestError, match="cannot be read"):
        load(Path("/proc/self/mem"))


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_bytes(b'\xef\xbb\xbfschema = 1\r\n[env]\r\nA = "x"\r\n')

    manifest = load(path)

    assert manifest.components() == {"env.A": "x"}
    assert manifest.place("env.A").line == 3


def test_a_manifest_with_a_huge_number_of_faults_is_read_in_time(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text("schema = 1\n[env]\n" + "".join(f"A{i} = {i}\n" for i in range(5000)))

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert len(raised.value.faults) == 5000


@pytest.mark.parametrize("target", ["../secret.patch", "link.patch"])
def test_a_patch_outside_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "secret.patch").write_text("")
    (folder / "link.patch").symlink_to(tmp_path / "secret.patch")
    path = folder / "m.toml"
    path.write_text(f'schema = 1\n[code]\nrepo = "https://x/y"\ndirty_patch = "{target}"\n')

    with pytest.raises(ManifestError, match="leaves the folder"):
        load(path)


@pytest.mark.parametrize("name", ["loop.toml", "loop.toml/m.toml"])
def test_a_link_to_itself_is_a_fault_of_the_path(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.toml").symlink_to("loop.toml")

    with pytest.raises(ManifestError, match="too many levels of symbolic links") as raised:
        load(tmp_path / name)

    assert raised.value.hint == "check the path"


def test_no_name_is_not_read_as_the_current_folder() -> None:
    with pytest.raises(ManifestError, match="no file is named"):
        load(Path())


def test_paths_inside_a_link_to_itself_are_faults(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / "m.toml"
    path.write_text('schema = 1\nextends = "loop/base.toml"\n[code]\nrepo = "loop/here"\ndirty_patch = "loop/p"\n')

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert {fault.key for fault in raised.value.faults} >= {"extends", "code.repo"}
