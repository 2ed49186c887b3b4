"""The next probe: the most information about the culprit for a second of work.

For hypotheses with weight w, predictive rates p, q and x a probe, the mutual information of its outcome and the
culprit is ``H(sum w r) - sum w H(r)`` with r = p where h <= x and q elsewhere (H: binary entropy). Both sums have the
form ``constant + sum of a weight over h <= x``, so the values of a whole path of configurations, or of all
configurations one move away, come out of a single pass over the hypotheses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from envbisect.search.belief import Belief
from envbisect.search.evidence import Evidence
from envbisect.search.lattice import Floats, Hypotheses, Ints, Lattice
from envbisect.search.words import Configuration

Price = Callable[[Configuration], float]


def entropy(rate: Floats) -> Floats:
    """Binary entropy in bits."""
    inner = np.clip(rate, 1e-15, 1 - 1e-15)
    out = -inner * np.log2(inner) - (1 - inner) * np.log2(1 - inner)
    return np.where((rate <= 0) | (rate >= 1), 0.0, out)


@dataclass(frozen=True, slots=True)
class View:
    """The posterior as seen after one imagined outcome of the probes under way; ``share`` is that outcome's chance."""

    share: float
    fail: Floats  # weight * (p - q) of every kept hypothesis
    noise: Floats  # weight * (H(p) - H(q))
    base_fail: float
    base_noise: float


class Chooser:
    """Scores probes for one posterior. Only hypotheses that matter are kept."""

    def __init__(self, hypotheses: Hypotheses, belief: Belief, evidence: Evidence, price: Price | None) -> None:
        self.lattice: Lattice = hypotheses.lattice
        self.frame = hypotheses.frame
        self.evidence, self.price = evidence, price
        self.hypotheses, self.belief = hypotheses, belief
        keep = np.flatnonzero(belief.probability > 1e-4 / max(1, hypotheses.total))
        self.keep = keep
        self.blocks: list[tuple[slice, Ints]] = []
        done = 0
        for start, block in zip(hypotheses.bounds, hypotheses.blocks, strict=False):
            inside = keep[(keep >= start) & (keep < start + len(block))] - start
            self.blocks.append((slice(done, done + len(inside)), block[inside]))
            done += len(inside)
        self.p, self.q = belief.p[keep], belief.q[keep]
        self.weight = belief.probability[keep]
        # What no listed hypothesis explains points to a climb, and so may draw probes; not where repeats are cheaper
        # than builds: its rate is held constant, and re-running the bad end would look worth something for ever.
        unexplained = belief.rest + belief.elsewhere if price is None else 0.0
        self.null = (belief.null + unexplained, belief.null_rate)
        self._weights = [(self.weight, self.null[0])]
        self.views = [self._view(self.weight, self.null[0])]
        allowed = np.zeros(self.lattice.levels, dtype=np.bool_)
        for axis in range(self.lattice.dimensions):
            start, low, high = int(self.lattice.offset[axis]), self.frame.base[axis], self.frame.top[axis]
            allowed[start + low : start + high + 1] = not self.frame.coarse
            allowed[[start + low, start + high]] = True
        self.allowed = allowed

    def _view(self, weight: Floats, null: float) -> View:
        entropy_q = entropy(self.q)
        rate_null = np.array([self.null[1]])
        return View(
            float(weight.sum() + null),
            weight * (self.p - self.q),
            weight * (entropy(self.p) - entropy_q),
            float((weight * self.q).sum() + null * rate_null[0]),
            float((weight * entropy_q).sum() + null * entropy(rate_null)[0]),
        )

    def under(self, point: Configuration) -> NDArray[np.bool_]:
        """For every kept hypothesis: is it at or below the configuration?"""
        out = np.zeros(len(self.keep), dtype=np.bool_)
        if any(b > x for b, x in zip(self.frame.base, point, strict=True)):
            return out
        reached = self.lattice.reached(point)
        for part, block in self.blocks:
            mask = np.ones(len(block), dtype=np.bool_)
            for column in range(block.shape[1]):
                mask &= reached[block[:, column]]
            out[part] = mask
        return out

    def condition(self, point: Configuration) -> None:
        """Take the configuration as under way: later scores are expectations over its outcome."""
        mask = self.under(point)
        rate = np.where(mask, self.p, self.q)
        split = []
        for weight, null in self._weights:
            split.append((weight * rate, null * self.null[1]))
            split.append((weight * (1 - rate), null * (1 - self.null[1])))
        split.sort(key=lambda pair: -float(pair[0].sum() + pair[1]))
        self._weights = split[:8]
        self.views = [self._view(*pair) for pair in self._weights]

    def information(self, fail: Sequence[Floats], noise: Sequence[Floats]) -> Floats:
        """Bits, given for every view the summed weights at or below each candidate."""
        total: Floats = np.zeros(1)
        for view, fails, noises in zip(self.views, fail, noise, strict=True):
            if view.share <= 0:
                continue
            rate = np.clip((view.base_fail + fails) / view.share, 0.0, 1.0)
            total = total + view.share * entropy(rate) - (view.base_noise + noises)
        return np.maximum(total, 0.0)

    def score(self, point: Configuration) -> tuple[float, float]:
        """(bits, bits for a second) of one configuration; both are 0 where it cannot be tested."""
        chance = self.evidence.chance(point)
        if chance == 0:
            return 0.0, 0.0
        mask = self.under(point)
        bits = float(
            self.information(
                [np.array([view.fail[mask].sum()]) for view in self.views],
                [np.array([view.noise[mask].sum()]) for view in self.views],
            )[0]
        )
        return bits, round(bits * chance / (self.price(point) if self.price else 1.0), 9)

    def along(self, target: Configuration, axes: Iterable[int]) -> list[tuple[float, Configuration]]:
        """Scores on the path that lowers ``target`` axis by axis, in this order, down to the base; best first."""
        lattice = self.lattice
        when = np.full(lattice.levels, np.iinfo(np.int32).max, dtype=np.int64)
        path = [target]
        steps = list(target)
        for axis in axes:
            offset = int(lattice.offset[axis])
            for step in range(target[axis], self.frame.base[axis], -1):
                when[offset + step] = len(path)
                steps[axis] = step - 1
                if self.allowed[offset + step - 1]:
                    path.append(tuple(steps))
        length = len(path) + 1
        late = ~lattice.reached(target)
        when[late] = 0
        time = np.full(len(self.keep), length, dtype=np.int64)
        for part, block in self.blocks:
            for column in range(block.shape[1]):
                time[part] = np.minimum(time[part], when[block[:, column]])
        np.minimum(time, length, out=time)
        fails: list[Floats] = []
        noises: list[Floats] = []
        for view in self.views:
            for sums, weight in ((fails, view.fail), (noises, view.noise)):
                lost = np.cumsum(np.bincount(time, weight, minlength=length + 1))
                sums.append(lost[-1] - lost[: len(path)])
        value = self.information(fails, noises)
        chance: Floats = np.ones(len(path))
        if self.evidence.any_doubt() or self.price:
            chance = np.array([self.evidence.chance(x) / (self.price(x) if self.price else 1.0) for x in path])
        value = np.round(value * chance, 9)
        best = np.argsort(-value, kind="stable")[:4]
        return [(float(value[i]), path[i]) for i in best.tolist()]

    def moves(self, point: Configuration, limit: Configuration) -> tuple[float, Configuration]:
        """The best configuration one move (one axis to any step, at most ``limit``) away, with its score."""
        lattice = self.lattice
        reached = lattice.reached(point)
        own = lattice.offset + np.asarray(point, dtype=np.int32)
        fails: list[Floats] = []
        noises: list[Floats] = []
        selected: list[tuple[NDArray[np.intp], Ints]] = []
        whole = np.zeros(len(self.keep), dtype=np.bool_)
        for part, block in self.blocks:
            satisfied = [reached[block[:, column]] for column in range(block.shape[1])]
            broken = np.zeros(len(block), dtype=np.int32)
            for column in satisfied:
                broken += ~column
            whole[part] = broken == 0
            for number, column in enumerate(satisfied):
                rows = np.flatnonzero(broken - ~column == 0)
                selected.append((rows + part.start, block[rows, number]))
        rows = np.concatenate([rows for rows, _ in selected]) if selected else np.zeros(0, dtype=np.intp)
        units = np.concatenate([units for _, units in selected]) if selected else np.zeros(0, dtype=np.int32)
        for view in self.views:
            for sums, weight in ((fails, view.fail), (noises, view.noise)):
                gained = np.cumsum(np.bincount(units, weight[rows], minlength=lattice.levels))
                here = np.asarray(gained[own][lattice.axis_of], dtype=np.float64)
                sums.append(np.asarray(float(weight[whole].sum()) + gained - here, dtype=np.float64))
        value = self.information(fails, noises)
        usable = self.allowed & lattice.reached(limit)
        if self.evidence.any_doubt():
            value = value * self.evidence.move_chances(point)
        value = np.where(usable, value, -1.0)
        if self.price is not None:
            best = np.argsort(-value, kind="stable")[:64]
            priced = np.full(len(value), -1.0)
            for level in best.tolist():
                if value[level] > 0:
                    priced[level] = value[level] / self.price(self._moved(point, level))
            value = priced
        level = int(np.argmax(np.round(value, 9)))
        return round(float(value[level]), 9), self._moved(point, level)

    def _moved(self, point: Configuration, level: int) -> Configuration:
        axis = int(self.lattice.axis_of[level])
        return (*point[:axis], int(self.lattice.step_of[level]), *point[axis + 1 :])

    def best(
        self, target: Configuration, extra: Iterable[Configuration], generator: np.random.Generator
    ) -> tuple[float, Configuration]:
        """The best probe at or below ``target``; ``extra`` configurations compete wherever they are."""
        axes = [axis for axis in range(self.lattice.dimensions) if target[axis] > self.frame.base[axis]]
        found = {x: score for x in extra if (score := self.score(x)[1]) > 0}
        few = len(self.keep) * len(self.views) > 200_000
        orders = [axes, axes[::-1]] if len(axes) > 1 else [axes]
        if len(axes) > 2 and not few:
            orders += [[axes[i] for i in generator.permutation(len(axes)).tolist()] for _ in range(2)]
        for order in orders if axes else []:
            found.update((x, score) for score, x in self.along(target, order))
        if len(axes) > 1:
            starts = sorted(found, key=lambda x: (-found[x], x))[: 1 if few else 3]
            for start in starts:
                point, score = start, found[start]
                for _ in range(3 if few else 12):
                    better, moved = self.moves(point, target)
                    if not self.evidence.exists(moved):
                        continue
                    if better <= score:
                        break
                    point, score = moved, better
                    found[point] = max(score, found.get(point, 0.0))
        usable = {x: score for x, score in found.items() if score > 0 and self.evidence.chance(x) > 0}
        if not usable:
            return 0.0, self.lattice.zero
        best = min(usable, key=lambda x: (-usable[x], x))
        return usable[best], best
