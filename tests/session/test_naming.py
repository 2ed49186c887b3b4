"""What moves together is told apart by exact installs at the boundary, and stays whole where they cannot tell."""

from __future__ import annotations

from envbisect.burnin.symptoms import Observation
from envbisect.manifest.stack import Value
from envbisect.search import Status
from envbisect.session.ask import Purpose
from envbisect.session.campaign import Answer
from envbisect.session.finding import Finding
from envbisect.space.model import Configuration
from tests.session.worlds import OTHER, World, failed, passed, steady

BUNDLE = ("python.packages.boto3", "python.packages.botocore", "python.packages.s3transfer")


def diagonal(point: Configuration) -> Configuration:
    """The three move together, as their exact requirements demand; the fourth axis is free."""
    step = sorted(point[:3])[1]
    return (step, step, step, point[3])


def finding(answer: Answer) -> Finding:
    assert answer.status is Status.CULPRIT, answer
    return answer.reports[0].findings[0]


def bundle(exact: dict[str, Observation]) -> World:
    """A bundle whose fourth step fails; ``exact`` says what raising one member alone to it shows."""

    def install(components: dict[str, Value]) -> Observation:
        raised = [key for key in BUNDLE if components[key] == "4"]
        return exact[raised[0]] if len(raised) == 1 else failed(OTHER)

    return World(
        (6, 6, 6, 1),
        steady(lambda point: point[0] >= 4),
        diagonal,
        keys=(*BUNDLE, "env.INNOCENT"),
        exact=install,
    )


def test_the_member_of_a_bundle_that_fails_alone_is_the_culprit() -> None:
    world = bundle({BUNDLE[0]: passed(), BUNDLE[1]: failed(), BUNDLE[2]: failed(OTHER)})
    _, answer = world.solve()
    (change,) = finding(answer).changes
    assert (change.key, change.last_good, change.first_bad) == (BUNDLE[1], "3", "4")
    assert (change.good, change.bad) == ("0", "6")


def test_a_bundle_that_no_smaller_part_decides_is_reported_whole() -> None:
    world = bundle({BUNDLE[0]: passed(), BUNDLE[1]: passed(), BUNDLE[2]: failed(OTHER)})
    _, answer = world.solve()
    assert {change.key for change in finding(answer).changes} == set(BUNDLE)
    assert all((c.last_good, c.first_bad) == ("3", "4") for c in finding(answer).changes)


def test_exact_installs_are_few_and_only_at_the_boundary() -> None:
    world = bundle({BUNDLE[0]: passed(), BUNDLE[1]: failed(), BUNDLE[2]: failed(OTHER)})
    world.solve()
    exact = [ask for ask in world.asks if ask.purpose is Purpose.NAMING]
    assert 0 < len(exact) <= 3
    assert {ask.configuration for ask in exact} == {(3, 3, 3, exact[0].configuration[3])}


def rider_world(exact_own: Observation, exact_rider: Observation) -> World:
    """Step 3 of requests drags a new urllib3 along."""

    def riders(point: Configuration) -> dict[str, Value]:
        return {"python.packages.urllib3": "2" if point[0] >= 3 else "1"}

    def install(components: dict[str, Value]) -> Observation:
        own, rider = components["python.packages.requests"] == "3", components["python.packages.urllib3"] == "2"
        return failed() if own and rider else exact_own if own else exact_rider if rider else passed()

    return World(
        (5, 1),
        steady(lambda point: point[0] >= 3),
        keys=("python.packages.requests", "env.INNOCENT"),
        exact=install,
        riders=riders,
    )


def test_a_rider_that_fails_alone_is_the_culprit_in_the_place_of_its_driver() -> None:
    _, answer = rider_world(exact_own=passed(), exact_rider=failed()).solve()
    (change,) = finding(answer).changes
    assert (change.key, change.last_good, change.first_bad) == ("python.packages.urllib3", "1", "2")


def test_a_step_that_fails_without_its_rider_keeps_its_name() -> None:
    _, answer = rider_world(exact_own=failed(), exact_rider=passed()).solve()
    (change,) = finding(answer).changes
    assert (change.key, change.last_good, change.first_bad) == ("python.packages.requests", "2", "3")


def test_a_step_keeps_its_name_where_exact_installs_only_break_otherwise() -> None:
    _, answer = rider_world(exact_own=failed(OTHER), exact_rider=failed(OTHER)).solve()
    (change,) = finding(answer).changes
    assert change.key == "python.packages.requests"
