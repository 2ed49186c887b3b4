"""For all tests: signals are what they are at a terminal, however the tests were started."""

from __future__ import annotations

import signal

from hypothesis import settings

# A shell's background job ignores Ctrl-C, nohup ignores the hang-up, and what they start would inherit that.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# Machines are shared and noisy: how long one example takes says nothing.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
