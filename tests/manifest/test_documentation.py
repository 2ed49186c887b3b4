"""The example of the manifest's documentation is a manifest, and its table of the test is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from envbisect.errors import ManifestError
from envbisect.keys import Layer
from envbisect.manifest import Burnin, Classify, Metric, load

PAGE = (Path(__file__).parents[2] / "docs" / "manifest.md").read_text()


def test_the_example_is_a_manifest_that_touches_every_kind_of_table(tmp_path: Path) -> None:
    path = tmp_path / "example.toml"
    path.write_text(PAGE.split("```toml\n", 1)[1].split("```", 1)[0])

    manifest = load(path)

    layers = {key.split(".")[0] for key in manifest.components()}
    assert layers == set(Layer) - {Layer.CODE}, "code needs a repository around the file"
    assert manifest.burnin.command == ("python", "train.py")
    assert manifest.axes == {"dataloader.num_workers": (0, 2, 4, 8)}


def test_every_key_of_the_test_is_documented_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
    nested: dict[str, type[Classify | Metric]] = {"classify": Classify, "metrics.NAME": Metric}
    keys = [name for name in Burnin.model_fields if name not in {"classify", "metrics"}]
    keys += [f"{table}.{name}" for table, model in nested.items() for name in model.model_fields]

    assert sorted(rows) == sorted(keys)
    assert rows["rounds"] == str(Burnin().rounds)
    assert rows["timeout_s"] == f"{Burnin().timeout_s:g}"
    assert rows["signature"] == f'`"{Burnin().signature}"`'
    assert rows["metrics.NAME.aggregate"] == f'`"{Metric().aggregate}"`'


def test_the_documented_faults_are_those_that_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("typo.toml").write_text('schema = 1\nname = "x"\n[tourch]\nthreads = 1\n[torch]\nthreads = "two"\n')

    with pytest.raises(ManifestError) as raised:
        load(Path("typo.toml"))

    error = raised.value
    assert f"{error.message} ({error.hint})" in PAGE
    assert len(error.faults) == 2
    for fault in error.faults:
        more = f"did you mean {fault.nearest}?" if fault.nearest else f"expected {fault.expected}"
        assert f"{fault} ({more})" in PAGE
