"""Two manifests together: one test, and axes that join the two ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from envbisect.errors import ManifestError
from envbisect.manifest import Manifest, check_pair, load
from envbisect.manifest.stack import Value

Write = Callable[..., Path]
Pair = Callable[[str, str], tuple[Manifest, Manifest]]


@pytest.fixture
def pair(write: Write) -> Pair:
    return lambda good, bad: (load(write(good, "good.toml")), load(write(bad, "bad.toml")))


def test_the_same_test_written_in_two_ways_is_the_same(pair: Pair) -> None:
    good, bad = pair("", '[burnin]\nchecks = ["ladder", "repeat", "latency"]\nrounds = 3\ntimeout_s = 120\n')

    assert check_pair(good, bad) == {}


def test_different_tests_stop_with_the_fields_and_the_way_out(pair: Pair) -> None:
    good, bad = pair('[burnin]\ncommand = ["a"]\n', '[burnin]\ncommand = ["b"]\nrounds = 5\n')

    with pytest.raises(ManifestError) as raised:
        check_pair(good, bad)

    assert "command, rounds" in raised.value.message
    assert f"--burnin {good.path}" in raised.value.hint
    assert [fault.key for fault in raised.value.faults] == ["burnin.command", "burnin.rounds"]


AXIS = '[axes]\n"dataloader.num_workers" = [0, 2, 4, 8]\n'


@pytest.mark.parametrize(
    ("good", "bad", "steps"),
    [
        (0, 8, (0, 2, 4, 8)),
        (2, 4, (2, 4)),
        (8, 0, (8, 4, 2, 0)),
        (4, 2, (4, 2)),
    ],
)
def test_steps_run_from_good_to_bad(pair: Pair, good: int, bad: int, steps: tuple[Value, ...]) -> None:
    one, other = pair(f"[dataloader]\nnum_workers = {good}\n{AXIS}", f"[dataloader]\nnum_workers = {bad}\n")

    assert check_pair(one, other) == {"dataloader.num_workers": steps}


def test_an_axis_may_stand_on_either_side_or_equally_on_both(pair: Pair) -> None:
    low, high = "[dataloader]\nnum_workers = 0\n", "[dataloader]\nnum_workers = 8\n"

    assert check_pair(*pair(low, high + AXIS)) == check_pair(*pair(low + AXIS, high + AXIS))


def test_an_axis_whose_ends_are_equal_is_none(pair: Pair) -> None:
    same = "[dataloader]\nnum_workers = 3\n"

    assert check_pair(*pair(same + AXIS, same)) == {}


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("num_workers = 0", "num_workers = 7", "lacks the number 7"),
        ("num_workers = 1", "num_workers = 8", "lacks the number 1"),
        ("num_workers = 0", "pin_memory = true", "is not set"),
    ],
)
def test_both_ends_must_be_in_the_axis(pair: Pair, good: str, bad: str, message: str) -> None:
    one, other = pair(f"[dataloader]\n{good}\n{AXIS}", f"[dataloader]\n{bad}\n")

    with pytest.raises(ManifestError, match=message) as raised:
        check_pair(one, other)

    assert raised.value.faults[0].file == str(one.path)
    assert raised.value.faults[0].line == 5


def test_two_lists_for_one_axis_are_refused(pair: Pair) -> None:
    one, other = pair(
        f"[dataloader]\nnum_workers = 0\n{AXIS}",
        '[dataloader]\nnum_workers = 8\n[axes]\n"dataloader.num_workers" = [0, 8]\n',
    )

    with pytest.raises(ManifestError, match="other steps"):
        check_pair(one, other)


def test_text_and_number_are_different_steps(pair: Pair) -> None:
    one, other = pair('[host.sysctl]\n"a.b" = "1"\n[axes]\n"host.sysctl.a.b" = [1, 2]\n', '[host.sysctl]\n"a.b" = 2\n')

    with pytest.raises(ManifestError, match='lacks "1"'):
        check_pair(one, other)


def test_steps_of_a_package_that_is_resolved_later_are_left_to_the_resolution(pair: Pair) -> None:
    axes = '[axes]\n"python.packages.urllib3" = ["1.26.7", "1.26.13"]\n'

    assert check_pair(*pair('[python.packages]\nrequests = "2.26.0"\n' + axes, "")) == {}
    assert (
        check_pair(*pair('[python.packages]\nurllib3 = ">=1"\n' + axes, '[python.packages]\nurllib3 = "1.26.13"\n'))
        == {}
    )


def test_all_axes_that_do_not_join_the_ends_are_faults_at_once(pair: Pair) -> None:
    axes = AXIS + '"torch.threads" = [1, 2]\n'
    one, other = pair(
        "[dataloader]\nnum_workers = 1\n[torch]\nthreads = 1\n" + axes,
        "[dataloader]\nnum_workers = 8\n[torch]\nthreads = 3\n",
    )

    with pytest.raises(ManifestError, match="2 axes") as raised:
        check_pair(one, other)

    assert [fault.key for fault in raised.value.faults] == ["axes.dataloader.num_workers", "axes.torch.threads"]
