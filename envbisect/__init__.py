"""envbisect: find the minimal combination of stack changes that broke determinism or latency."""

__version__ = "0.1.0"
