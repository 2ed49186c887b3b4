"""The commands that need no session: lint, diff, schema, doctor."""

from __future__ import annotations

from pathlib import Path

from envbisect import __version__
from tests.cli.console_script import envbisect


def write(folder: Path, name: str, body: str) -> str:
    (folder / name).write_text(f'schema = 1\nname = "{name}"\n{body}')
    return name


def test_lint_reports_all_faults_at_once(tmp_path: Path) -> None:
    typo = write(tmp_path, "typo.toml", '[tourch]\nthreads = 1\n[torch]\nthreads = "two"\n')
    told = envbisect("lint", typo, "--json", cwd=tmp_path)
    faults = told.document["error"]["faults"]
    assert told.code == 2
    assert [(fault["line"], fault["key"]) for fault in faults] == [(3, "tourch"), (6, "torch.threads")]
    assert faults[0]["nearest"] == "torch"
    plain = envbisect("lint", typo, cwd=tmp_path)
    assert plain.out == ""
    headline, *lines = plain.err.splitlines()
    assert headline.startswith("envbisect: typo.toml has 2 faults")
    assert [line.split()[0] for line in lines] == ["typo.toml:3:", "typo.toml:6:"]


def test_lint_of_a_sound_manifest_lists_what_it_pins(tmp_path: Path) -> None:
    sound = write(tmp_path, "sound.toml", '[env]\nA = "1"\n[torch]\nthreads = 2\n')
    told = envbisect("lint", sound, "--json", cwd=tmp_path)
    assert told.code == 0
    assert told.document["components"] == {"env.A": "1", "torch.threads": 2}
    assert "no faults, 2 components pinned" in envbisect("lint", sound, cwd=tmp_path).out


def test_diff_lists_deltas_and_says_absent(tmp_path: Path) -> None:
    good = write(tmp_path, "good.toml", '[env]\nA = "1"\nSAME = "x"\n[torch]\nthreads = 2\n')
    bad = write(tmp_path, "bad.toml", '[env]\nA = "2"\nSAME = "x"\n[python.packages]\nNumPy = "2.1.0"\n')
    told = envbisect("diff", good, bad, "--json", cwd=tmp_path)
    assert told.code == 0
    assert told.document["deltas"] == [
        {"key": "env.A", "a": "1", "b": "2"},
        {"key": "python.packages.numpy", "a": None, "b": "2.1.0"},
        {"key": "torch.threads", "a": 2, "b": None},
    ]
    lines = [" ".join(line.split()) for line in envbisect("diff", good, bad, cwd=tmp_path).out.splitlines()]
    assert "python.packages.numpy (not set) → 2.1.0" in lines
    assert lines[-1] == "3 components differ"


def test_diff_of_equal_stacks_is_empty(tmp_path: Path) -> None:
    good = write(tmp_path, "good.toml", '[env]\nA = "1"\n')
    assert envbisect("diff", good, good, cwd=tmp_path).out == "0 components differ\n"


def test_a_freeze_is_a_stack(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("numpy==1.26.4\nsix==1.16.0\n")
    (tmp_path / "new.txt").write_text("numpy==2.1.0\nsix==1.16.0\n")
    told = envbisect("diff", "old.txt", "new.txt", "--json", cwd=tmp_path)
    assert told.document["deltas"] == [{"key": "python.packages.numpy", "a": "1.26.4", "b": "2.1.0"}]


def test_schema_is_one_document_either_way(tmp_path: Path) -> None:
    told = envbisect("schema", "--json", cwd=tmp_path)
    assert told.code == 0
    assert told.document["$schema"].startswith("https://json-schema.org/")
    assert envbisect("schema", cwd=tmp_path).document == told.document


def test_show_of_no_session_says_so(tmp_path: Path) -> None:
    for command in ("show", "resume"):
        ran = envbisect(command, "nothing", cwd=tmp_path)
        assert ran.code == 2
        assert "nothing" in ran.err
        assert ran.err.count("\n") == 1


def test_lint_names_what_no_runtime_moves(tmp_path: Path) -> None:
    (tmp_path / "host.toml").write_text(
        'schema = 1\n[host]\ndriver = "535.161.08"\n[host.cmdline]\npcie_aspm = "off"\n[env]\nNCCL_ALGO = "Ring"\n'
    )
    told = envbisect("lint", "host.toml", "--json", cwd=tmp_path)
    assert told.code == 0
    assert [entry["key"] for entry in told.document["unmovable"]] == ["host.cmdline.pcie_aspm", "host.driver"]
    assert "cannot be moved: host.driver = 535.161.08" in envbisect("lint", "host.toml", cwd=tmp_path).out


def test_lint_of_a_freeze_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("numpy==1.26.4\nsix==1.16.0\n")
    ran = envbisect("lint", "old.txt", cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith("envbisect: lint takes manifests; old.txt is a pip freeze (")


def test_lint_knows_the_checks(tmp_path: Path) -> None:
    (tmp_path / "check.toml").write_text('schema = 1\n[burnin]\nchecks = ["repeat.index_putt"]\n')
    told = envbisect("lint", "check.toml", "--json", cwd=tmp_path)
    assert told.code == 2
    assert "repeat.index_put" in told.document["error"]["hint"]


def test_the_version_is_one_line_or_one_document(tmp_path: Path) -> None:
    plain = envbisect("--version", cwd=tmp_path)
    assert (plain.code, plain.out, plain.err) == (0, f"envbisect {__version__}\n", "")
    for words in (("--version", "--json"), ("--json", "--version")):
        told = envbisect(*words, cwd=tmp_path)
        assert (told.code, told.document) == (0, {"schema": 1, "version": __version__})


def test_json_may_stand_before_the_command(tmp_path: Path) -> None:
    sound = write(tmp_path, "sound.toml", '[env]\nA = "1"\n')
    assert envbisect("--json", "lint", sound, cwd=tmp_path).document["components"] == {"env.A": "1"}


def test_help_with_json_is_a_document_too(tmp_path: Path) -> None:
    for words in (("run", "--help", "--json"), ("--json", "run", "--help")):
        told = envbisect(*words, cwd=tmp_path)
        assert told.code == 0
        assert "--max-probes" in told.document["help"]
    assert "--max-probes" in envbisect("run", "--help", cwd=tmp_path).out
