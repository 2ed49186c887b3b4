"""The script that a runtime starts: ``python envbisect_entry.py REQUEST.json RESULT.json``.

It is carried beside the package ``envbisect_payload``, in a folder that holds nothing else: as ``sys.path[0]`` that
folder hides no module of the environment under test, and it is taken off the path again at once.
"""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, folder)  # explicitly: PYTHONSAFEPATH, which a manifest may set, would leave it out
    main = importlib.import_module("envbisect_payload.main").main
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    raise SystemExit(main(sys.argv[1:]))
