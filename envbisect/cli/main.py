"""The entry point: runs one command, prints its answer, and is the only place that prints an error."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from contextlib import nullcontext, redirect_stdout
from io import TextIOWrapper
from types import FrameType

from envbisect.cli.failure import document, fault_lines, headline
from envbisect.cli.reply import Invocation, Reply, encode
from envbisect.errors import EnvbisectError, EnvironmentFailure, ExitCode, UsageError
from envbisect.report.console import coloured, rendered

PROGRAM = "envbisect"
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})


def main(argv: list[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's own) and return the exit code."""
    # A name or a message may hold what the terminal's encoding cannot say; the answer must come out all the same.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _interrupt)
    invocation, words = Invocation.parse(list(sys.argv[1:] if argv is None else argv))
    try:
        return _answer(invocation, words)
    except EnvbisectError as error:
        return _fail(error, invocation)
    except KeyboardInterrupt:
        return _interrupted(invocation)
    except Exception as error:
        if invocation.debug:
            raise
        return _fail(_internal(error), invocation)


def _answer(invocation: Invocation, words: list[str]) -> int:
    try:
        answer = _dispatch(invocation, words)
        if isinstance(answer, Reply):
            _print(answer, invocation)
            return answer.exit_code
    except BrokenPipeError:
        return _reader_left()
    except OSError as error:
        if invocation.debug:
            raise
        raise _from_os(error) from error
    # Typer turns Ctrl-C inside a command into this exit code.
    return _interrupted(invocation) if answer == ExitCode.INTERRUPTED else answer


def _dispatch(invocation: Invocation, words: list[str]) -> Reply | int:
    """Let Typer read ``words`` and run the command; an int is an exit code after help was shown."""
    import typer

    from envbisect.cli.app import TAKE_A_TEST, app, command_names

    if invocation.test is not None:
        if words and words[0] in command_names() and words[0] not in TAKE_A_TEST:
            raise UsageError(f"`{words[0]}` takes no test after `--`", f"see `{PROGRAM} {words[0]} --help`")
        if not invocation.test:
            raise UsageError("no test follows `--`", f"write for example `{PROGRAM} run GOOD BAD -- python test.py`")
    as_document = invocation.json and "--help" in words
    shown = io.StringIO()
    try:
        with redirect_stdout(shown) if as_document else nullcontext():
            answer = typer.main.get_command(app).main(
                args=words, prog_name=PROGRAM, standalone_mode=False, obj=invocation
            )
    except typer.TyperException as error:
        raise _from_typer(error, words, command_names()) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if as_document:
        return Reply({"schema": 1, "help": shown.getvalue()}, lambda console: console.print(shown.getvalue()))
    return answer if isinstance(answer, Reply | int) else ExitCode.DONE


def _from_typer(error: Exception, words: list[str], commands: list[str]) -> UsageError:
    """Say a usage error of Typer the way all other errors are said."""
    from envbisect.cli.failure import nearest_command

    message = getattr(error, "format_message", error.__str__)()
    command = words[0] if words and words[0] in commands else ""
    near = "" if command else nearest_command(words[0] if words else "", commands)
    if near:
        return UsageError(f"no such command: {words[0]}", f"did you mean `{PROGRAM} {near}`?")
    return UsageError(message or "nothing to do", f"see `{' '.join(filter(None, (PROGRAM, command)))} --help`")


def _from_os(error: OSError) -> EnvbisectError:
    """An error of the operating system that nobody below could do anything about."""
    where = f": {os.fspath(error.filename)!r}" if isinstance(error.filename, str | os.PathLike) else ""
    what = f"{error.strerror or type(error).__name__}{where}"
    if error.errno in FULL_DISK:
        return EnvironmentFailure(what, "free some disk space, then go on with `envbisect resume`")
    return EnvironmentFailure(what, "check the path and its permissions; --debug shows the traceback")


def _internal(error: Exception) -> EnvbisectError:
    hint = "this is a fault of envbisect; --debug shows the traceback"
    return EnvbisectError(f"internal error: {type(error).__name__}: {error}", hint)


def _reader_left() -> int:
    """The reader of stdout (``| head``) has seen enough; the interpreter must not flush into the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.DONE


def _print(reply: Reply, invocation: Invocation) -> None:
    sys.stdout.write(encode(reply.document) if invocation.json else rendered(reply.render, sys.stdout))
    sys.stdout.flush()


def _fail(error: EnvbisectError, invocation: Invocation) -> int:
    """Print ``error``: always one line on stderr, its faults below for people, the document for programs."""
    print(headline(error, colour=coloured(sys.stderr)), file=sys.stderr)
    if invocation.json:
        sys.stdout.write(encode(document(error)))
        sys.stdout.flush()
    else:
        for line in fault_lines(error):
            print(line, file=sys.stderr)
    return error.exit_code


def _interrupted(invocation: Invocation) -> int:
    """Ctrl-C before a session could say more: nothing was answered."""
    print(f"{PROGRAM}: interrupted", file=sys.stderr)
    if invocation.json:
        told = {"message": "interrupted", "hint": "", "faults": []}
        sys.stdout.write(encode({"schema": 1, "status": "interrupted", "error": told}))
        sys.stdout.flush()
    return ExitCode.INTERRUPTED


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends a run as Ctrl-C does: what was started is killed, the session stays resumable."""
    raise KeyboardInterrupt
