"""How often the ends are run, and what is learned there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from envbisect.burnin.symptoms import Observation
from envbisect.errors import EnvironmentFailure
from envbisect.manifest.burnin import Metric, Worse
from envbisect.session.ask import Ask, NotBuilt, NotFeasible, Ran, Reply
from envbisect.session.endpoints import EndpointPolicy, Ends, establish
from envbisect.session.history import History
from tests.session.worlds import cannot_tell, failed, passed

Show = Callable[[int], Observation]


def ends(good: Show, bad: Show, **metrics: Metric) -> Ends:
    policy = EndpointPolicy(any_failure=False, metrics=metrics, confidence=0.95)
    generator = establish((0,), (1,), History(), policy)
    counts: dict[tuple[int, ...], int] = {(0,): 0, (1,): 0}

    def reply(ask: Ask) -> Reply:
        shown = (good if ask.configuration == (0,) else bad)(counts[ask.configuration])
        counts[ask.configuration] += 1
        return Ran(ask.configuration, shown, {}, (), 0.0, 1.0)

    try:
        ask = next(generator)
        while True:
            ask = generator.send(reply(ask))
    except StopIteration as stop:
        found: Ends = stop.value
        return found


def runs(found: Ends) -> tuple[int, int]:
    return len(found.good), len(found.bad)


def test_steady_ends_are_run_twice_each() -> None:
    assert runs(ends(lambda n: passed(), lambda n: failed())) == (2, 2)


def test_an_end_that_disagrees_with_itself_is_run_ten_times() -> None:
    found = ends(lambda n: passed(), lambda n: failed() if n % 2 else passed())
    assert runs(found) == (10, 10)
    assert [symptom.id for symptom in found.symptoms] == ["command"]


def test_a_bad_end_that_fails_late_is_still_caught() -> None:
    found = ends(lambda n: passed(), lambda n: failed() if n == 9 else passed())
    assert runs(found) == (10, 10)
    assert found.symptoms


def test_a_good_end_that_only_fails_is_run_twice_and_no_more() -> None:
    found = ends(lambda n: failed(), lambda n: failed())
    assert found.good_failed
    assert runs(found) == (2, 2)


def test_a_good_end_that_only_fails_is_run_five_times_beside_a_bad_end_that_passes() -> None:
    found = ends(lambda n: failed(), lambda n: failed() if n % 2 else passed())
    assert found.good_failed
    assert len(found.good) == 5


def test_a_good_end_that_passes_the_third_time_flakes_like_the_bad_end() -> None:
    found = ends(lambda n: passed() if n == 2 else failed(), lambda n: failed() if n % 2 else passed())
    assert not found.good_failed
    assert runs(found) == (10, 10)


def test_an_end_that_cannot_tell_is_named() -> None:
    found = ends(lambda n: cannot_tell(), lambda n: failed())
    assert found.cannot_tell == "good"
    assert runs(found) == (3, 3)


def test_undeclared_numbers_become_symptoms_when_five_runs_separate() -> None:
    found = ends(lambda n: passed(p99_ms=18.0 + n / 10), lambda n: passed(p99_ms=203.0 + n))
    assert [symptom.id for symptom in found.symptoms] == ["command.p99_ms"]
    rule = found.symptoms[0].metric
    assert rule is not None
    assert rule.above is not None
    assert 19 < rule.above < 203


def test_numbers_that_overlap_are_no_symptom() -> None:
    found = ends(lambda n: passed(p99_ms=18.0 + n % 3), lambda n: passed(p99_ms=18.2 + n % 3))
    assert found.symptoms == ()


@pytest.mark.parametrize(
    ("name", "good", "bad", "symptom"),
    [
        ("p99_ms", 20.0, 10.0, False),  # an improvement is never a symptom
        ("tokens_per_s", 20.0, 10.0, True),
        ("tokens_per_s", 10.0, 20.0, False),
        ("accuracy", 0.9, 0.5, True),
    ],
)
def test_the_direction_follows_the_name(name: str, good: float, bad: float, symptom: bool) -> None:
    found = ends(lambda n: passed(**{name: good + n / 1000}), lambda n: passed(**{name: bad + n / 1000}))
    assert bool(found.symptoms) is symptom


def test_a_declared_direction_wins() -> None:
    found = ends(
        lambda n: passed(loss=1.0 + n / 1e6), lambda n: passed(loss=0.5 + n / 1e6), loss=Metric(worse=Worse.DIFFERENT)
    )
    assert [symptom.id for symptom in found.symptoms] == ["command.loss"]


def test_a_declared_limit_needs_no_statistics() -> None:
    found = ends(lambda n: passed(p99_ms=18.0), lambda n: passed(p99_ms=25.0), p99_ms=Metric(max=20.0))
    (symptom,) = found.symptoms
    assert symptom.metric is not None
    assert symptom.metric.above == 20.0


def test_the_worst_metric_comes_first() -> None:
    found = ends(
        lambda n: passed(p50_ms=10.0 + n / 100, p99_ms=18.0 + n / 100),
        lambda n: passed(p50_ms=11.0 + n / 100, p99_ms=203.0 + n / 100),
    )
    assert [symptom.id for symptom in found.symptoms] == ["command.p99_ms", "command.p50_ms"]


@pytest.mark.parametrize("reply", [NotBuilt((1,), "no compiler"), NotFeasible("a needs b<1")])
def test_an_end_that_cannot_be_built_is_one_clear_error(reply: Reply) -> None:
    policy = EndpointPolicy(any_failure=False, metrics={}, confidence=0.95)
    generator = establish((0,), (1,), History(), policy)
    next(generator)
    generator.send(Ran((0,), passed(), {}, (), 0.0, 1.0))
    with pytest.raises(EnvironmentFailure, match="the bad end"):
        generator.send(reply)
