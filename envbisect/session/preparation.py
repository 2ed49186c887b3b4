"""From options to everything that a campaign runs with: manifests, runtime, space, test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envbisect.errors import UsageError
from envbisect.manifest import Burnin, Manifest, SignaturePolicy, check_pair, load_any
from envbisect.session.burnintest import BurninTest
from envbisect.session.campaign import CampaignPlan
from envbisect.session.endpoints import EndpointPolicy
from envbisect.session.machine import chosen_before, make_packages, make_runtime, settle
from envbisect.session.options import RunOptions
from envbisect.session.setting import Setting
from envbisect.space import Lattice, build_space
from envbisect.space.model import Configuration

if TYPE_CHECKING:
    from envbisect.backends.interface import Runtime
    from envbisect.space.uvsource import UvPackages


@dataclass(frozen=True)
class Prepared:
    """A run that may begin."""

    options: RunOptions
    setting: Setting
    space: Lattice
    runtime: Runtime
    test: BurninTest
    inputs: Mapping[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before it begins."""
        return (self.setting.why, *self.setting.notes, *self.space.notes)

    def campaign_plan(self) -> CampaignPlan:
        """What the pure campaign needs to know of all this."""
        options, burnin = self.options, self.test.burnin
        policy = EndpointPolicy(
            any_failure=burnin.signature is SignaturePolicy.ANY,
            metrics=burnin.metrics,
            confidence=options.confidence,
        )
        return CampaignPlan(
            axes=self.space.axes,
            confidence=options.confidence,
            seed=options.seed,
            policy=policy,
            max_probes=options.max_probes,
            find_all=options.find_all,
            known_good=options.known_good,
            known_bad=options.known_bad,
            feasible=self.feasible,
        )

    def feasible(self, point: Configuration) -> bool:
        """What metadata says, before anything is resolved or built; the ends always are."""
        return self.space.possible(point)


def prepare(
    options: RunOptions,
    moment: str,
    session: Path,
    *,
    stored: Mapping[str, Any] | None = None,
    stored_space: Callable[[UvPackages | None], Lattice] | None = None,
) -> Prepared:
    """Read both manifests, choose the runtime, and make the space between them; nothing is built.

    Args:
        moment: when the run began, RFC 3339: what floats resolves as of then.
        session: the folder below which runtimes make their environments.
        stored: ``session.json`` of an earlier process: manifests are not read again.
        stored_space: makes the space of that process, given the package index.

    Raises:
        EnvbisectError: whatever is wrong with manifests, pins, the machine or the network.
    """
    if stored is not None and stored_space is not None:
        setting, inputs = Setting.from_document(stored["setting"]), stored["inputs"]
        chosen = chosen_before(setting)
        space = stored_space(make_packages(setting))
    else:
        good, bad = (_read(path, options) for path in (options.good, options.bad))
        check_pair(good, bad)
        setting, chosen = settle(options, good, bad)
        inputs = {"good": _input(good), "bad": _input(bad)}
        space = build_space(
            good,
            bad,
            movers=chosen.spec.moves,
            moment=moment,
            index=make_packages(setting),
            default_python=f"{sys.version_info.major}.{sys.version_info.minor}",
        )
        _check_needs(good, bad, space)
    test = BurninTest(Burnin.model_validate(setting.burnin))
    return Prepared(options, setting, space, make_runtime(chosen, setting, session), test, inputs)


def _check_needs(good: Manifest, bad: Manifest, space: Lattice) -> None:
    """Built-in checks need torch in what is built; told before anything is.

    Raises:
        UsageError: an end will not have it.
    """
    from envbisect.burnin.catalogue import needs

    if space.packages is None:
        return
    facts = space.packages.facts
    for manifest, closure in ((good, facts.good), (bad, facts.bad)):
        for name in needs(manifest.burnin.checks):
            if closure.version(name) is None:
                raise UsageError(
                    f"{manifest.path}: its checks ({', '.join(manifest.burnin.checks)}) need {name}, which is no pin",
                    f"pin {name} in [python.packages], or give a test of your own: -- COMMAND",
                )


def _read(path: str, options: RunOptions) -> Manifest:
    return load_any(
        path,
        command=options.command,
        checks=options.checks,
        burnin_file=Path(options.burnin) if options.burnin else None,
    )


def _input(manifest: Manifest) -> dict[str, str]:
    """A manifest verbatim, for whoever reads the session later."""
    return {
        "path": str(manifest.path),
        "name": manifest.name,
        "text": manifest.path.read_text(encoding="utf-8", errors="replace"),
    }
