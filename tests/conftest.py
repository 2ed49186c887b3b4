"""For all tests: Ctrl-C is what it is at a terminal, however the tests were started."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job ignores it, and so would its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
