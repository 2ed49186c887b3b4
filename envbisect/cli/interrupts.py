"""What ends a run from outside: Ctrl-C, SIGTERM and SIGHUP mean the same, until there is an answer to tell."""

from __future__ import annotations

import signal
from enum import Enum, auto
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _State(Enum):
    WORKING = auto()  # a signal interrupts
    TELLING = auto()  # one signal is too late; another one means that nobody takes the answer
    INSISTED = auto()


class Interrupts:
    """Turns signals into KeyboardInterrupt: what was started is killed, and the session stays resumable."""

    def __init__(self) -> None:
        self._state = _State.WORKING

    def listen(self) -> None:
        """From now on signals come here, but for those that the caller wants ignored (nohup, a shell's ``&``)."""
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._come)

    def hold(self) -> None:
        """The answer stands and is being told: a signal does not change it any more, and only a second one ends it."""
        self._state = _State.TELLING

    def ignore(self) -> None:
        """All is told: until the process is gone nothing may take its exit code's place."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _come(self, _number: int, _frame: FrameType | None) -> None:
        if self._state is _State.TELLING:
            self._state = _State.INSISTED
        else:
            raise KeyboardInterrupt
