"""The entry point: runs one command, tells its answer, and is the only place that prints, errors too."""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import nullcontext, redirect_stdout

from envbisect.cli import streams
from envbisect.cli.failure import document, fault_lines, headline
from envbisect.cli.interrupts import Interrupts
from envbisect.cli.reply import Invocation, Reply, Told, encode
from envbisect.errors import EnvbisectError, EnvironmentFailure, ExitCode, UsageError
from envbisect.report.console import coloured, rendered

PROGRAM = "envbisect"
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})


def main(argv: list[str] | None = None) -> int:
    """Run the command line ``argv`` (default: the process's own) and return the exit code.

    Signals stay ignored afterwards: nothing may take the place of the exit code while the interpreter ends.
    """
    has_stdout = streams.settle()
    interrupts = Interrupts()
    interrupts.listen()
    invocation, words = Invocation.parse(list(sys.argv[1:] if argv is None else argv))
    try:
        told = _told(invocation, words) if has_stdout else _failure(_no_stdout(), invocation)
        interrupts.hold()
    except KeyboardInterrupt:  # it came while another one was being told
        interrupts.hold()
        told = _interrupted(invocation)
    code = _tell(told)
    interrupts.ignore()
    return code


def _told(invocation: Invocation, words: list[str]) -> Told:
    """All that there is to say about the command, before any of it is printed."""
    try:
        return _answer(invocation, words)
    except EnvbisectError as error:
        return _failure(error, invocation)
    except KeyboardInterrupt:
        return _interrupted(invocation)
    except Exception as error:
        if invocation.debug:
            raise
        return _failure(_internal(error), invocation)


def _answer(invocation: Invocation, words: list[str]) -> Told:
    try:
        answer = _dispatch(invocation, words)
    except OSError as error:
        if invocation.debug:
            raise
        raise _from_os(error) from error
    if isinstance(answer, Told):
        # Typer turns Ctrl-C inside a command into this exit code.
        return _interrupted(invocation) if answer.exit_code == ExitCode.INTERRUPTED else answer
    return Told(answer.exit_code, encode(answer.document) if invocation.json else _text(answer))


def _text(reply: Reply) -> str:
    """The answer for people. What is captured should not touch stdout, but at its end rich writes an empty text."""
    try:
        return rendered(reply.render, sys.stdout)
    except SystemExit:  # rich's way to say that the reader of a pipe left
        return ""
    except OSError as error:
        raise _unwritable(error) from error


def _dispatch(invocation: Invocation, words: list[str]) -> Reply | Told:
    """Let Typer read ``words`` and run the command; what it told by itself is help."""
    import typer

    from envbisect.cli.app import TAKE_A_TEST, app, command_names

    if invocation.test is not None:
        if words and words[0] in command_names() and words[0] not in TAKE_A_TEST:
            raise UsageError(f"`{words[0]}` takes no test after `--`", f"see `{PROGRAM} {words[0]} --help`")
        if not invocation.test:
            raise UsageError("no test follows `--`", f"write for example `{PROGRAM} run GOOD BAD -- python test.py`")
    # What Typer prints itself would end the process with exit code 1 where a pipe is closed; a terminal gets colours.
    by_typer = not words or not {"--help", "--version"}.isdisjoint(words)
    captures = by_typer and (invocation.json or not sys.stdout.isatty())
    shown = io.StringIO()
    try:
        with redirect_stdout(shown) if captures else nullcontext():
            answer = typer.main.get_command(app).main(
                args=words, prog_name=PROGRAM, standalone_mode=False, obj=invocation
            )
    except typer.TyperException as error:
        raise _from_typer(error, words, command_names()) from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except SystemExit as error:
        raise EnvironmentFailure("a pipe was closed at its other end", "did what it leads to end early?") from error
    if isinstance(answer, Reply):
        return answer
    code = answer if isinstance(answer, int) else ExitCode.DONE
    if invocation.json and "--help" in words:
        return Reply({"schema": 1, "help": shown.getvalue()}, lambda console: console.print(shown.getvalue()))
    return Told(code, shown.getvalue())


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


def _no_stdout() -> EnvbisectError:
    return EnvironmentFailure("stdout is closed: an answer has nowhere to go", "send it to a file or to /dev/null")


def _failure(error: EnvbisectError, invocation: Invocation) -> Told:
    """``error``: always one line on stderr, its faults below for people, the document for programs."""
    line = headline(error, colour=coloured(sys.stderr))
    if invocation.json:
        return Told(error.exit_code, encode(document(error)), (line,))
    return Told(error.exit_code, "", (line, *fault_lines(error)))


def _interrupted(invocation: Invocation) -> Told:
    """Ctrl-C before a session could say more: nothing was answered."""
    told = {"message": "interrupted", "hint": "", "faults": []}
    out = encode({"schema": 1, "status": "interrupted", "error": told}) if invocation.json else ""
    return Told(ExitCode.INTERRUPTED, out, (f"{PROGRAM}: interrupted",))


def _tell(told: Told) -> int:
    """Print it, and return the exit code: what was told is the answer, and what could not be told is none."""
    for line in told.err:
        print(line, file=sys.stderr)
    try:
        streams.put(told.out)
    except BrokenPipeError:  # the reader (``| head``) has seen enough
        streams.discard(streams.STDOUT)
    except OSError as error:
        streams.discard(streams.STDOUT)
        if told.err:  # a failure or an interruption has been told already
            return told.exit_code
        print(headline(_unwritable(error), colour=coloured(sys.stderr)), file=sys.stderr)
        return told.exit_code if told.exit_code == ExitCode.INTERRUPTED else ExitCode.ENVIRONMENT
    except KeyboardInterrupt:
        streams.discard(streams.STDOUT)
        return ExitCode.INTERRUPTED
    return told.exit_code


def _unwritable(error: OSError) -> EnvbisectError:
    what = f"{error.strerror or type(error).__name__}: the answer cannot be written to stdout"
    return EnvironmentFailure(what, "mend that; `envbisect show DIR` prints the answer of a session again")
