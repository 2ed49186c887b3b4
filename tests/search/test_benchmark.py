"""The benchmark counts what it says, its opponents are what they are called, and its tables hold together."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest
import search as benchmark
from hypothesis import given
from hypothesis import strategies as st
from searching import bounds, goals, ours, plot, rows, speed
from searching.bisection import SINGLE, VOTES, Votes, emulated
from searching.cells import Look
from searching.gitrun import real
from searching.measurements import Figures, Measurement, everything, play_explained
from searching.page import page
from searching.quickxplain import explained, lowered, quickxplain, raised
from searching.running import chunks, play_all
from searching.store import Store, StoreError
from searching.tools import ToolError, Tools
from searching.worlds import Found, Point, Row, World, at_or_above, culprits

ROOT = Path(__file__).parents[2]
NO_TOOLS = Tools(Path("nowhere"))
ALL_ROWS = (*rows.MAIN, *rows.SHORT, *rows.NULLS, *rows.EFFECTS, *rows.LONG_NULLS)


def named(rows_or_name: str) -> Measurement:
    return next(each for each in everything(NO_TOOLS) if each.name == rows_or_name)


def found(runs: int, builds: int = 0, *, answered: bool = True, right: bool = True) -> Found:
    return Found(runs, builds, "culprit" if answered else "budget", answered, right, runs, 0.001)


# ------------------------------------------------------------------------------------------------------------- worlds


def test_every_row_draws_its_culprits_inside_its_lattice() -> None:
    for row, seed in itertools.product(ALL_ROWS, range(3)):
        points = culprits(row, seed)
        assert len(points) == (len(row.sets) or min(row.order, 1))
        assert points == culprits(row, seed)
        for point in points:
            assert any(point)
            assert all(0 <= step <= size for step, size in zip(point, row.sizes, strict=True))


def test_culprits_differ_by_seed_and_reach_every_axis() -> None:
    raised_axes = {axis for seed in range(200) for axis, s in enumerate(culprits(rows.MIXED_SURE[1], seed)[0]) if s}
    assert raised_axes == set(range(20))


def test_a_world_fails_by_its_rates_and_counts_distinct_builds_besides_the_ends() -> None:
    row = Row("", "", (4,), 1, p=0.5, q=0.02)
    world = World(row, 1)
    ((first_bad,),) = world.culprits
    above = sum(world.fails((4,)) for _ in range(2000))
    assert 900 < above < 1100
    assert world.builds == 0
    below = sum(world.fails((first_bad - 1,)) for _ in range(2000))
    assert 15 < below < 70
    assert (world.runs, world.builds) == (4000, int(first_bad > 1))


def test_names_are_unique() -> None:
    names = [each.name for each in everything(NO_TOOLS)]
    assert len(set(names)) == len(names)
    assert len({row.key for row in ALL_ROWS}) == len(ALL_ROWS)


# ------------------------------------------------------------------------------------------------------------- bounds


@given(st.floats(0.02, 1.0), st.floats(0.0, 0.98))
def test_capacity_is_the_most_that_any_share_of_inputs_can_tell(p: float, q: float) -> None:
    if abs(p - q) < 0.02:
        return

    def told(share: float) -> float:
        mixed = bounds.entropy(share * p + (1 - share) * q)
        return mixed - share * bounds.entropy(p) - (1 - share) * bounds.entropy(q)

    most = max(told(step / 1000) for step in range(1, 1000))
    assert most - 1e-9 <= bounds.capacity(p, q) <= most + 1e-4


def test_capacity_of_known_channels() -> None:
    assert bounds.capacity(1, 0) == pytest.approx(1)
    assert bounds.capacity(0.9, 0.1) == pytest.approx(0.531004, abs=1e-6)
    assert bounds.capacity(0.5, 0) == pytest.approx(0.321928, abs=1e-6)  # the Z channel: log2(5/4)
    assert bounds.capacity(0.3, 0.3) == 0


def test_hypotheses_are_counted_as_by_hand() -> None:
    assert bounds.hypotheses((1024,), 1) == 1024
    assert bounds.hypotheses((7, 1, 1), 2) == 15
    assert bounds.bound(rows.STEPS_SURE) == pytest.approx(9.5)
    assert bounds.bound(rows.SETS[0]) is None


# ---------------------------------------------------------------------------------------------------------- opponents


def monotone_families(size: int) -> Iterator[tuple[frozenset[int], ...]]:
    """Every non-empty antichain of non-empty subsets: the minimal failing sets of every monotone test."""
    subsets = [frozenset(c) for k in range(1, size + 1) for c in itertools.combinations(range(size), k)]
    for count in range(1, len(subsets) + 1):
        for family in itertools.combinations(subsets, count):
            if not any(a < b for a, b in itertools.permutations(family, 2)):
                yield family


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_quickxplain_is_exact_on_every_monotone_test(size: int) -> None:
    for family in monotone_families(size):
        asked: list[frozenset[int]] = []

        def fails(chosen: Sequence[int], family: Sequence[frozenset[int]] = family, asked: list = asked) -> bool:  # type: ignore[type-arg]
            asked.append(frozenset(chosen))
            return any(minimal <= asked[-1] for minimal in family)

        assert frozenset(quickxplain(fails, range(size))) in family
        assert len(asked) <= 2 * size
        assert frozenset() not in asked


def test_lowering_finds_every_step() -> None:
    top = (3, 1, 5)
    for culprit in itertools.product(range(4), range(2), range(6)):
        if axes := [axis for axis, step in enumerate(culprit) if step]:
            asked: list[Point] = []

            def fails(point: Point, culprit: Point = culprit, asked: list[Point] = asked) -> bool:
                asked.append(point)
                return at_or_above(point, culprit)

            assert lowered(fails, top, axes) == culprit
            assert len(asked) <= 2 + 3
    assert raised(top, [0, 2]) == (3, 0, 5)


def test_quickxplain_on_rows_is_right_and_counts_its_runs() -> None:
    for row, seed in itertools.product((*rows.FLAGS_SURE, *rows.SETS, *rows.MIXED_SURE), range(5)):
        result = explained(row, seed, 1)
        assert result.right
        assert result.runs == result.builds <= 25
    noisy = explained(rows.MIXED_NOISY[0], 1, 8)
    assert noisy.builds < noisy.runs <= 8 * noisy.builds


@pytest.mark.parametrize("votes", VOTES, ids=lambda votes: votes.name)
def test_a_verdict_is_the_vote_of_all_runs_and_stops_once_it_is_clear(votes: Votes) -> None:
    for runs in itertools.product((False, True), repeat=votes.runs):
        verdict, took = votes.verdict(runs.__getitem__)
        assert verdict == (sum(runs) >= votes.needed)
        for rest in itertools.product((False, True), repeat=votes.runs - took):
            assert (sum(runs[:took]) + sum(rest) >= votes.needed) == verdict
        if took > 1:
            before = sum(runs[: took - 1])
            assert before < votes.needed <= before + votes.runs - took + 1


@pytest.mark.parametrize("steps", [1, 2, 3, 16, 33])
def test_bisection_of_a_steady_test_is_right_everywhere(steps: int) -> None:
    row = Row("", "", (steps,), 1)
    for seed in range(40):
        result = emulated(row, seed, SINGLE)
        assert result.right
        assert result.runs == result.builds <= steps.bit_length()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
@pytest.mark.parametrize("votes", [VOTES[0], VOTES[1], VOTES[4]], ids=lambda votes: votes.name)
def test_the_emulation_says_what_a_real_git_bisect_says(votes: Votes) -> None:
    row = Row("small", "", (21,), 1, p=0.7, q=0.1)
    for result, seed in zip(real(row, range(3), votes), range(3), strict=True):
        twin = emulated(row, seed, votes)
        assert (result.runs, result.builds, result.right) == (twin.runs, twin.builds, twin.right)
        assert result.thought_s > 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_emulation_is_the_real_one_on_the_whole_ladder() -> None:
    for result, seed in zip(real(rows.HIDDEN[2], range(4), VOTES[1]), range(4), strict=True):
        twin = emulated(rows.HIDDEN[2], seed, VOTES[1])
        assert (result.runs, result.builds, result.right) == (twin.runs, twin.builds, twin.right)


# ---------------------------------------------------------------------------------------------------------- our rows


def test_ours_counts_probes_and_right_answers() -> None:
    for row in (*rows.FLAGS_SURE, rows.SETS[0], rows.STEPS_SURE):
        result = ours.searched(row, 1, ours.alone)
        assert result.right
        assert result.status == "culprit"
        assert result.rounds == result.runs >= result.builds >= 3
        assert ours.searched(row, 1, ours.alone).runs == result.runs


def test_a_search_is_given_up_where_its_patience_ends() -> None:
    result = ours.searched(replace(rows.HIDDEN[1], patience=5), 1, ours.alone)
    assert (result.runs, result.answered, result.status) == (5, False, "budget")


def test_several_workers_take_fewer_rounds_but_no_fewer_than_their_number_allows() -> None:
    row = Row("", "", (64,), 1, p=0.5)
    alone = ours.searched(row, 3, ours.alone)
    for play in (ours.in_rounds, ours.whenever_free):
        result = ours.searched(row, 3, play)
        assert result.answered
        assert result.rounds < alone.rounds
        # A run may take half the mean duration, and four may be in flight at the answer.
        assert result.rounds >= (result.runs - ours.WORKERS) / ours.WORKERS * min(ours.DURATIONS)


def test_prices_and_rates_are_told_where_the_row_says_so() -> None:
    free, priced = (ours.searched(row, 2, ours.alone) for row in (rows.HIDDEN[3], rows.COSTS[2]))
    assert priced.builds < free.builds
    search = ours.opened(rows.TOLD[0], World(rows.TOLD[0], 0))
    assert search.result().rates == (0.5, 0.0)


def test_nothing_is_blamed_where_nothing_is_to_be_found() -> None:
    result = ours.searched(rows.NULLS[2], 0, ours.alone)
    assert not result.right
    assert result.runs <= rows.NULL_PATIENCE


# -------------------------------------------------------------------------------------------------------------- speed


@pytest.mark.parametrize("kind", list(speed.KINDS))
def test_lattices_to_time_have_as_many_hypotheses_as_they_say(kind: str) -> None:
    sizes = speed.largest(kind, 2000)
    count = speed.hypotheses(sizes)
    assert count == bounds.hypotheses(sizes, 1) + bounds.hypotheses(sizes, 2)
    assert 1000 < count < 2000 <= speed.hypotheses((*sizes, 7))


def test_times_and_their_exponent() -> None:
    point = speed.timed("flags", 200, probes=2, late=2)
    assert point.opening_ms > 0 < point.early_ms
    made = [replace(point, hypotheses=n, late_ms=3 * n**0.7) for n in (100, 1000, 10_000)]
    assert speed.exponent(made) == pytest.approx(0.7)


# ------------------------------------------------------------------------------------------------------------ figures


def test_figures_of_some_searches() -> None:
    figures = Figures.of([found(10, 5), found(20, 5, right=False), found(30, 8, answered=False, right=False)])
    assert (figures.searches, figures.runs_mean, figures.runs_p95) == (3, 20, 30)
    assert figures.runs_error == pytest.approx(10 / 3**0.5, abs=1e-3)
    assert (figures.answered, figures.right) == (2, 1)
    assert figures.cost_mean == pytest.approx(20 + 10 * 6)
    assert figures.statuses == {"budget": 1, "culprit": 2}
    assert Figures.of([found(n) for n in range(1, 101)]).runs_p95 == 95


def test_a_row_is_met_only_if_mean_right_and_answered_are() -> None:
    row, wanted = rows.HIDDEN[0], rows.Wanted(50.0)
    fine = Figures.of([found(50)] * 100)
    assert goals.is_met(row, wanted, fine, None) is True
    assert goals.is_met(row, wanted, replace(fine, runs_mean=50.1), None) is False
    assert goals.is_met(row, wanted, replace(fine, right=91), None) is False  # chance leaves 91.4
    assert goals.is_met(row, wanted, replace(fine, right=92), None) is True
    assert goals.is_met(row, wanted, replace(fine, answered=97, right=97), None) is False
    assert goals.is_met(rows.STEPS_SURE, wanted, replace(fine, right=99), None) is False
    cost = rows.Wanted(of_bayesect=0.45)
    theirs = replace(fine, cost_mean=fine.cost_mean / 0.44)
    assert goals.is_met(rows.COSTS[0], cost, fine, theirs) is True
    assert goals.is_met(rows.COSTS[0], cost, fine, replace(theirs, cost_mean=fine.cost_mean / 0.46)) is False
    assert goals.is_met(rows.COSTS[0], cost, fine, None) is None


def test_seeds_are_dealt_out_once() -> None:
    for count in (1, 19, 40, 1000):
        assert [seed for chunk in chunks(range(count)) for seed in chunk] == list(range(count))


# -------------------------------------------------------------------------------------------------------------- store


def small(row: Row = rows.FLAGS_SURE[0]) -> Measurement:
    return Measurement("QuickXplain", "quickxplain", row, partial(play_explained, 1), (ROOT / "pyproject.toml",))


def edit_and_play(source: Path, row: Row, seeds: Sequence[int]) -> list[Found]:
    """An engineer saves a file while a search runs."""
    source.write_text("2", encoding="utf-8")
    return play_explained(1, row, seeds)


def test_what_is_stored_is_not_played_again_until_a_source_or_the_row_changes(tmp_path: Path) -> None:
    source, path = tmp_path / "source.py", tmp_path / "figures.json"
    source.write_text("1", encoding="utf-8")
    measurement = replace(small(), sources=(source,))
    said: list[str] = []
    play_all([measurement], Store(path), 3, 1, said.append)
    assert len(said) == 1
    assert "QuickXplain / flags-1" in said[0]
    again = Store(path)
    assert again.is_fresh(measurement, 3)
    assert not again.is_fresh(measurement, 4)
    assert not again.is_fresh(replace(measurement, row=replace(measurement.row, p=0.9)), 3)
    play_all([measurement], again, 3, 1, said.append)
    assert said[1:] == ["1 measurements are stored already"]
    assert not again.is_stale(measurement)
    source.write_text("2", encoding="utf-8")
    assert not again.is_fresh(measurement, 3)
    assert again.is_stale(measurement)
    assert Look([measurement], again).mark("QuickXplain", measurement.row) == " †"


def test_sources_that_change_while_they_are_measured_are_measured_again(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("1", encoding="utf-8")
    measurement, store = replace(small(), sources=(source,)), Store(None)
    play_all([measurement], store, 1, 1, lambda _: None)
    assert store.is_fresh(measurement, 1)
    meanwhile = replace(measurement, play=partial(edit_and_play, source))
    play_all([replace(meanwhile, player="edited")], store, 1, 1, lambda _: None)
    assert not store.is_fresh(replace(meanwhile, player="edited"), 1)


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 99}'])
def test_a_store_that_cannot_be_read_is_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "figures.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"figures\.json .*remove it"):
        Store(path)


# ------------------------------------------------------------------------------------------------- the page, the plot


def filled(path: Path | None = None) -> tuple[list[Measurement], Store]:
    """Every measurement with made-up figures."""
    measurements, store = list(everything(NO_TOOLS)), Store(path)
    for number, each in enumerate(measurements):
        store.keep(each, Figures.of([found(20 + number % 7, 10), found(30, 12)]), each.digest())
    times = {"axes": 9, "opening_ms": 1.0, "early_ms": 2.0}
    points = [
        {"kind": kind, "target": count, "hypotheses": count - 1, "late_ms": 0.01 * count, **times}
        for kind in speed.KINDS
        for count in speed.TARGETS
    ]
    store.keep_thinking(points, speed.digest())
    return measurements, store


def test_every_table_is_whole_and_every_measurement_in_it() -> None:
    measurements, store = filled()
    text = page(measurements, store, 2, "search.svg")
    assert "(search.svg)" in text
    assert "to the power of\n1.00 for ladders of 8" in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert len(tables) == 5 + len(rows.CHAINS) + len(rows.COMBINATIONS)
    for table in tables:
        assert len({line.count("|") for line in table}) == 1
        assert len(table) > 2
    # Ours stand in two tables where others play as well, and at the workers.
    twice = len(rows.CHAINS) + len(rows.TOLD) + len(rows.COSTS) + len(rows.COMBINATIONS) + 2
    lines = sum(len(table) - 2 for table in tables)
    assert lines == len(measurements) + len(speed.KINDS) * len(speed.TARGETS) + twice
    assert all(len(line) <= 120 for line in text.splitlines() if not line.startswith("|"))


def test_what_was_not_measured_is_left_out() -> None:
    text = page(list(everything(NO_TOOLS)), Store(None), 2, None)
    assert "svg" not in text
    assert not [line for line in text.splitlines() if line.startswith("| envbisect")]


def test_the_plot_is_the_same_for_the_same_figures_and_has_the_readers_colours(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    measurements, store = filled()
    for name in ("a.svg", "b.svg"):
        plot.draw(tmp_path / name, measurements, store)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert text == (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text
    assert plot.INK not in text
    assert "dc:date" not in text
    assert text.count("hollow: right in less than 95 %") == 1
    for words in ("runs of the test (mean of a search)", "cost (runs of the test; a build costs 10)"):
        assert words in text


def test_the_page_in_the_docs_says_what_the_stored_figures_say() -> None:
    """Whether they are of the sources of now, which † tells, is for whoever measures again."""
    stored = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    searches = int(stored.partition("benchmarks/search.py ")[2].split()[0])
    now = page(list(everything(NO_TOOLS)), Store(ROOT / "docs" / "search.json"), searches, "search.svg")
    again = f"python benchmarks/search.py {searches} --rows '' --out docs/search.md"
    assert stored.replace(" †", "") == now.replace(" †", ""), f"run: {again}"


# --------------------------------------------------------------------------------------------------- the command line


def test_rows_are_chosen_by_key_by_name_and_without_families() -> None:
    every = list(everything(NO_TOOLS))
    assert {each.row.key for each in benchmark.chosen(every, "flags-2,none-*", "")} >= {"flags-2", "none-0.3"}
    assert [each.name for each in benchmark.chosen(every, "envbisect / steps", "")] == ["envbisect / steps"]
    assert not [each for each in benchmark.chosen(every, "*", "bayesect,picire") if each.tools]
    assert len(benchmark.chosen(every, "*", "")) == len(every)


def test_one_row_is_measured_printed_and_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    out = tmp_path / "search.md"
    assert benchmark.main(["2", "--rows", "envbisect / flags-2", "--out", str(out), "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.out == out.read_text(encoding="utf-8")
    assert "envbisect / flags-2" in printed.err
    line = next(line for line in printed.out.splitlines() if line.startswith("| 14 flags, {A,B} |"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert 5 <= float(cells[1].split()[0]) <= 12
    assert cells[7:9] == ["2/2", "2/2"]
    assert Store(out.with_suffix(".json")).is_fresh(named("envbisect / flags-2"), 2)


def test_the_page_is_written_anew_without_measuring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra bench is not installed")
    filled(tmp_path / "search.json")
    out = tmp_path / "search.md"
    assert benchmark.main(["2", "--rows", "", "--out", str(out)]) == 0
    assert "| envbisect, rates told | 2 |" in out.read_text(encoding="utf-8")
    assert "runs," not in capsys.readouterr().err


def test_a_row_that_does_not_exist_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--rows", "nonsense"]) == 3
    assert "--rows nonsense names no row; take for example" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["0"], ["--jobs", "0"], ["many"]])
def test_impossible_numbers_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        benchmark.main(words)


# -------------------------------------------------------------------------------------------------------------- tools


def script(folder: Path, body: str) -> Tools:
    """A stand-in for the environment's interpreter."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    python.chmod(0o755)
    return Tools(folder)


def test_an_index_without_the_tools_is_said_with_what_to_do(tmp_path: Path) -> None:
    tools = script(tmp_path / "tools", "echo 'ERROR: No matching distribution' >&2; exit 1")
    with pytest.raises(ToolError, match=r"pip cannot install .*No matching distribution; .*--without bayesect,picire"):
        tools.install()


def test_a_worker_that_fails_is_said(tmp_path: Path) -> None:
    tools = script(tmp_path / "tools", "echo 'Traceback' >&2; echo 'KeyError: 3' >&2; exit 1")
    with pytest.raises(ToolError, match=r"worker ddmin failed in .*KeyError: 3; remove that folder"):
        tools.play("ddmin", rows.FLAGS_SURE[0], [0])


def test_workers_are_asked_in_json_and_find_the_worlds(tmp_path: Path) -> None:
    answer = json.dumps({"found": [asdict(found(3, 2))]})
    left = f"cat > {tmp_path}/asked.json; echo $PYTHONPATH > {tmp_path}/path"
    tools = script(tmp_path / "tools", f"{left}; echo '{answer}'")
    assert tools.play("ddmin", rows.FLAGS_SURE[0], [0]) == [found(3, 2)]
    assert '"seeds": [0]' in (tmp_path / "asked.json").read_text(encoding="utf-8")
    assert Path((tmp_path / "path").read_text(encoding="utf-8").strip()) == ROOT / "benchmarks"


@pytest.mark.slow
@pytest.mark.network
def test_the_real_tools_play_every_row(tmp_path: Path) -> None:
    tools = Tools(tmp_path / "tools")
    tools.install()
    assert set(tools.versions()) == {"git-bayesect", "picire"}
    for each in everything(tools):
        if not each.tools:
            continue
        results = each.play(each.row, range(3))
        assert len(results) == 3
        assert all(0 < result.runs <= each.row.patience for result in results)
        if each.row.deterministic:
            assert all(result.right for result in results), each.name
        if each.row in rows.LONG_NULLS:
            assert not any(result.right for result in results)


def test_what_a_worker_is_sent_makes_the_same_worlds() -> None:
    for row in (*rows.CHAINS, *rows.COMBINATIONS):
        sent = {name: getattr(row, name) for name in ("key", "title", "sizes", "order", "sets", "p", "q", "patience")}
        assert culprits(Row(**sent), 5) == culprits(row, 5)
