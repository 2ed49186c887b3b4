"""First on ``PYTHONPATH`` of a user's test: install the hook, then let an existing sitecustomize run as if alone.

Any interpreter that the test starts runs this file, so it holds nothing that an old one could not parse. Its folder
leaves ``sys.path`` again: the program sees the path that it would have seen.
"""

import os
import sys

_SITE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.dirname(os.path.dirname(_SITE))

sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _SITE]

if sys.version_info >= (3, 8):
    import importlib

    sys.path.insert(0, _ROOT)
    try:
        importlib.import_module("envbisect_payload.hook.install").install()
    finally:
        sys.path.remove(_ROOT)

_own = sys.modules.pop("sitecustomize", None)
try:
    __import__("sitecustomize")
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    # the import system expects this name to be there when this file ends
    sys.modules.setdefault("sitecustomize", _own or sys.modules[__name__])
