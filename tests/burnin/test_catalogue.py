"""The catalogue: what the manifest, the documentation and the payload say of checks is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.burnin.catalogue import catalogue, families, needs, render_markdown, validate
from envbisect.errors import UsageError
from envbisect.manifest.burnin import CHECK_FAMILIES, Burnin


def test_the_manifest_knows_the_same_families_and_accepts_every_id() -> None:
    assert families() == CHECK_FAMILIES
    ids = tuple(info.id for info in catalogue())
    assert Burnin(checks=ids).checks == ids


def test_every_check_is_documented_and_unique() -> None:
    infos = catalogue()
    assert len({info.id for info in infos}) == len(infos)
    for info in infos:
        assert info.id.split(".")[0] == info.family
        assert info.documentation.endswith(".")


def test_a_family_means_all_its_checks_and_overlaps_count_once() -> None:
    repeat = [info for info in catalogue() if info.family == "repeat"]
    assert list(validate(["repeat.sum", "repeat", "repeat.index_put"])) == repeat


@pytest.mark.parametrize(
    ("wrong", "near"), [("repeat.indexput", "repeat.index_put"), ("latncy", "latency"), ("zzz", "")]
)
def test_a_wrong_id_names_the_nearest_right_one(wrong: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        validate(["ladder", wrong])
    assert [(fault.message, fault.nearest) for fault in caught.value.faults] == [(f"no check is called {wrong}", near)]
    assert caught.value.exit_code == 2


def test_all_wrong_ids_are_reported_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        validate(["xx", "ladder", "yy"])
    assert len(caught.value.faults) == 2


def test_checks_need_torch_and_a_command_alone_needs_nothing() -> None:
    assert needs(["latency"]) == ("torch",)
    assert needs([]) == ()


def test_the_committed_documentation_is_up_to_date() -> None:
    document = Path(__file__).parents[2] / "docs" / "checks.md"
    assert document.read_text() == render_markdown()
