"""What GOOD and BAD may be on the command line, chosen by content; what cannot be read yet is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.errors import ExitCode, ManifestError, UsageError
from envbisect.manifest import load_any


def test_a_manifest_and_a_freeze_are_told_apart_by_content(tmp_path: Path) -> None:
    manifest, freeze = tmp_path / "m.conf", tmp_path / "f.conf"
    manifest.write_text('schema = 1\n[env]\nA = "1"\n')
    freeze.write_text("six==1.16.0\n")

    assert load_any(str(manifest)).components() == {"env.A": "1"}
    assert load_any(str(freeze)).components() == {"python.packages.six": "1.16.0"}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("live", None, "this machine"),
        ("ssh:node7", None, "ssh:node7"),
        ("image:nvcr.io/x:1", None, "image:nvcr.io/x:1"),
        ("pylock.toml", 'lock-version = "1.0"\n', "lock file"),
        ("uv.lock", 'version = 1\n[[package]]\nname = "x"\n', "lock file"),
        ("pyproject.toml", '[project]\nname = "x"\n', "metadata of a project"),
        ("report.txt", "Collecting environment information...\nPyTorch version: 2.1\n", "report"),
        ("report.json", '{"a": 1}', "JSON"),
        ("words.txt", "what is this?\n", "neither a manifest nor a freeze"),
    ],
)
def test_what_cannot_be_read_yet_is_refused_with_a_way_out(
    tmp_path: Path, name: str, text: str | None, kind: str
) -> None:
    source = name
    if text is not None:
        (tmp_path / name).write_text(text)
        source = str(tmp_path / name)

    with pytest.raises(UsageError, match="yet") as raised:
        load_any(source)

    assert kind in raised.value.message
    assert "pip freeze" in raised.value.hint
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_manifest_with_faults_is_a_manifest_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("[torch]\nthreads = 0\n")

    with pytest.raises(ManifestError) as raised:
        load_any(str(path))

    assert [fault.key for fault in raised.value.faults] == ["schema", "torch.threads"]


def test_a_command_replaces_the_test_and_keeps_its_settings(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        'schema = 1\n[burnin]\nchecks = ["repeat"]\ntimeout_s = 7\n[burnin.metrics.p99_ms]\nworse = "higher"\n'
    )

    burnin = load_any(str(path), command=["python", "t.py"]).burnin

    assert (burnin.command, burnin.checks, burnin.timeout_s) == (("python", "t.py"), (), 7)
    assert burnin.metrics["p99_ms"].worse == "higher"
    assert load_any(str(path), checks=["ladder"]).burnin.checks == ("ladder",)


def test_a_wrong_check_on_the_command_line_is_a_fault_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text("schema = 1\n")

    with pytest.raises(ManifestError) as raised:
        load_any(str(path), checks=["latenzy"])

    assert raised.value.faults[0].nearest == "latency"
    assert raised.value.faults[0].file == "the command line"


def test_the_burnin_file_holds_for_a_freeze_too(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("six==1.16.0\n")
    (tmp_path / "test.toml").write_text('schema = 1\n[burnin]\ncommand = ["true"]\n')

    manifest = load_any(str(tmp_path / "f.txt"), burnin_file=tmp_path / "test.toml", python="3.11")

    assert manifest.burnin.command == ("true",)
    assert manifest.python.version == "3.11"


@pytest.mark.parametrize("source", ["", " "])
def test_an_empty_word_is_no_folder(source: str) -> None:
    with pytest.raises(UsageError, match="no file is named"):
        load_any(source)


def test_the_burnin_file_of_a_freeze_needs_its_table_too(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("six==1.16.0\n")
    (tmp_path / "plain.toml").write_text("schema = 1\n")

    with pytest.raises(ManifestError, match=r"plain\.toml: has no \[burnin\] table"):
        load_any(str(tmp_path / "f.txt"), burnin_file=tmp_path / "plain.toml", python="3.11")
