"""What the command line calls: start, resume, show and plan a session; run a burn-in once. Answers are documents."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from envbisect import __version__
from envbisect.errors import UsageError
from envbisect.session.events import Decided, Note, Phase, PhaseChanged, Subscriber, ignore
from envbisect.session.options import RunOptions
from envbisect.session.store import SCHEMA, SessionFolder, default_path, read_json

if TYPE_CHECKING:
    from envbisect.session.journal import Journal
    from envbisect.session.preparation import Prepared

RESULT: Final = "result.json"
SPACE: Final = "space.json"
SESSION: Final = "session.json"


def start(options: RunOptions, on_event: Subscriber = ignore) -> dict[str, Any]:
    """Begin a session and run it to its answer.

    Returns:
        The result document; status ``interrupted`` after Ctrl-C.

    Raises:
        EnvbisectError: see the exit codes; a session that was begun can be resumed.
    """
    from envbisect.session.preparation import prepare
    from envbisect.space import space_document

    base = Path.cwd()
    options = options.resolved(base)
    on_event(PhaseChanged(Phase.PLANNING, "reading both manifests and the steps between them"))
    path = base / options.session if options.session else default_path(base, datetime.now(UTC))
    folder = SessionFolder.create(path)
    try:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        prepared = prepare(options, moment, folder.path)
        folder.write(SPACE, space_document(prepared.space))
        folder.write(
            SESSION,
            {
                "schema": SCHEMA,
                "tool": __version__,
                "moment": moment,
                "seed": options.seed,
                "options": options.to_document(),
                "setting": prepared.setting.to_document(),
                "inputs": prepared.inputs,
                "session": str(path.relative_to(base)) if path.is_relative_to(base) else str(path),
            },
        )
        return _run(folder, options, prepared, on_event)
    except BaseException:
        _discard_if_empty(folder)
        raise
    finally:
        folder.close()


def resume(
    session: str,
    *,
    confidence: float | None = None,
    max_probes: int | None = None,
    max_hours: float | None = None,
    until: str | None = None,
    forget: int | None = None,
    on_event: Subscriber = ignore,
) -> dict[str, Any]:
    """Go on with a session that was killed, interrupted or out of budget; with other options also with a finished one.

    Without other options a finished session answers again; so it does where it is as sure as it is now asked to be.
    ``max_probes`` and ``max_hours`` are new budgets over the whole session, what was spent before included. ``forget``
    is the number of the probe from which on nothing that was observed counts any more.

    Raises:
        EnvbisectError: no such session, it is owned by another process, or its files were damaged.
    """
    from envbisect.session.preparation import prepare
    from envbisect.session.resuming import carry_over, going_on, sure_enough
    from envbisect.space import space_from_document

    folder = SessionFolder.open(Path(session).absolute())
    try:
        stored = folder.read(SESSION)
        before = _options_of(folder.path, stored)
        options = before.amended(confidence=confidence, max_probes=max_probes, max_hours=max_hours, until=until)
        finished = (folder.path / RESULT).exists()
        if finished and forget is None:
            answered = folder.read(RESULT)
            if options == before or sure_enough(answered, before, options):
                return answered
        if options != before or forget is not None:
            carried = carry_over(folder, forget)
            on_event(Note(going_on(carried, before, options)))
            stored = {**stored, "options": options.to_document(), "carried": carried}
            (folder.path / RESULT).unlink(missing_ok=True)
            folder.write(SESSION, stored)
        kept_space = folder.read(SPACE)
        prepared = prepare(
            options,
            stored["moment"],
            folder.path,
            stored=stored,
            stored_space=lambda index: space_from_document(kept_space, index=index),
        )
        return _run(folder, options, prepared, on_event, stored.get("carried", 0))
    finally:
        folder.close()


def _options_of(path: Path, stored: dict[str, Any]) -> RunOptions:
    """The options of a session; UsageError if ``session.json`` lacks what every session has."""
    missing = {"options", "setting", "inputs", "moment"} - stored.keys()
    if missing:
        raise UsageError(
            f"{path / SESSION} lacks {', '.join(sorted(missing))}",
            "restore the session folder from a backup, or start anew",
        )
    return RunOptions.from_document(stored["options"])


def show(session: str) -> dict[str, Any]:
    """The result document of a session.

    Raises:
        UsageError: there is no session, or it has no answer yet.
    """
    path = Path(session)
    if not (path / SESSION).is_file():
        raise UsageError(f"{path} holds no session", "look for session folders below .envbisect/")
    if not (path / RESULT).is_file():
        raise UsageError(f"{path} has no answer yet", f"go on with: envbisect resume {path}")
    document = read_json(path / RESULT)
    if "status" not in document:
        raise UsageError(f"{path / RESULT} is no result", "restore the session folder from a backup, or resume it")
    return document


def plan(options: RunOptions) -> dict[str, Any]:
    """What a run would do, before anything is built."""
    from envbisect.session.plandocument import plan_document
    from envbisect.session.preparation import prepare
    from envbisect.session.scratch import scratch

    options = options.resolved(Path.cwd())
    with scratch() as place:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return plan_document(prepare(options, moment, place))


def burnin_once(
    manifest: str,
    *,
    command: tuple[str, ...] | None = None,
    backend: str | None = None,
    burnin: str | None = None,
    python: str | None = None,
    checks: tuple[str, ...] | None = None,
    at: str | None = None,
) -> dict[str, Any]:
    """Run the burn-in once in the stack of a manifest, or in a session ``at`` one of its places.

    Returns:
        The burn-in result document.

    Raises:
        EnvbisectError: the stack cannot be built, the payload left no result, or the session has no such place.
    """
    from envbisect.session.scratch import scratch
    from envbisect.session.single import run_place, run_single

    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with scratch() as place:
        if at is not None:
            folder = Path(manifest).absolute()
            if not (folder / SESSION).is_file():
                raise UsageError(f"--at names a place of a session, and {manifest} holds none", "leave --at out")
            stored = read_json(folder / SESSION)
            _options_of(folder, stored)
            return run_place(stored, read_json(folder / SPACE), show(manifest), at, place)
        options = RunOptions(manifest, manifest, command, backend=backend, burnin=burnin, python=python, checks=checks)
        return run_single(options.resolved(Path.cwd()), moment, place)


def _run(
    folder: SessionFolder, options: RunOptions, prepared: Prepared, on_event: Subscriber, carried: int = 0
) -> dict[str, Any]:
    """Run a prepared session, write its result and return it."""
    from envbisect.session.campaign import Campaign
    from envbisect.session.document import Frame, result_document
    from envbisect.session.engine import Engine
    from envbisect.session.executor import Executor
    from envbisect.session.journal import Journal, RecordType
    from envbisect.session.realisations import Realisations
    from envbisect.session.recipe import recipe

    for note in prepared.notes:
        on_event(Note(note))
    journal = Journal(folder.path / "journal.jsonl")
    campaign = Campaign(prepared.campaign_plan())
    realisations = Realisations(folder.path / "realised.jsonl")
    realisations.recall(prepared.space)
    executor = Executor(
        prepared.space,
        prepared.runtime,
        prepared.test,
        on_event,
        lambda message: _record_fault(journal, message),
        workdir=Path(prepared.setting.workdir) if prepared.setting.workdir else None,
        keep=realisations.keep,
    )
    until = datetime.fromisoformat(options.until) if options.until else None
    engine = Engine(campaign, executor, journal, folder, on_event, options.max_hours, until, carried)
    try:
        journal.append(RecordType.OPENED, {"tool": __version__, "pid": os.getpid(), "records": len(journal.records)})
        try:
            answer = engine.run()
        except KeyboardInterrupt:
            answer = None
        document = result_document(
            campaign,
            answer,
            Frame(
                session=_shown(folder.path),
                good=options.good,
                bad=options.bad,
                unmovable=tuple(prepared.space.unmovable),
                notes=tuple(prepared.notes),
                built=engine.built(),
                total_s=engine.total_s(),
                numbers=tuple(engine.numbers),
                reproduce=tuple(recipe(options, prepared.setting.runtime, _shown(folder.path), answer)),
            ),
        )
        if answer is not None:
            journal.append(RecordType.DECIDED, {"status": document["status"], "culprits": document["culprits"]})
            folder.write(RESULT, document)
            on_event(PhaseChanged(Phase.DONE))
            on_event(Decided(document["status"]))
            prepared.runtime.close()
        return document
    finally:
        journal.close()


def _record_fault(journal: Journal, message: str) -> None:
    from envbisect.session.journal import RecordType

    journal.append(RecordType.FAULT, {"message": message})


def _shown(path: Path) -> str:
    """A session's path as a user in this folder writes it."""
    base = Path.cwd()
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _discard_if_empty(folder: SessionFolder) -> None:
    """A session that could not even be planned leaves nothing behind."""
    if (folder.path / SESSION).exists():
        return
    import shutil

    shutil.rmtree(folder.path, ignore_errors=True)
