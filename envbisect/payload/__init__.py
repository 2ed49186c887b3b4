"""What runs *inside* an environment under test: the standard library plus torch, Python 3.8 and later.

It is copied in as the package ``envbisect_payload`` (see ``envbisect.burnin.carry``), so it imports nothing of
envbisect and its own modules only relatively. torch is never imported when a module here is.
"""

from __future__ import annotations

SCHEMA = 1
"""Schema number of the burn-in request and of the burn-in result."""
