"""Make the metadata of a project whose setup.cfg spells a key the way of 2010: description-file, with a dash."""

import os
import runpy
import sys
import tempfile
from pathlib import Path

SETUP_CFG = """\
[metadata]
name = old-hand
version = 1.0
description-file = README

[options]
py_modules =
"""

with tempfile.TemporaryDirectory() as project:
    os.chdir(project)
    Path("README").write_text("Older than the underscore.\n")
    Path("setup.cfg").write_text(SETUP_CFG)
    Path("setup.py").write_text("import setuptools; setuptools.setup()\n")
    sys.argv = ["setup.py", "--quiet", "egg_info"]
    try:
        runpy.run_path("setup.py", run_name="__main__")
    finally:
        os.chdir("/")
print("the metadata was made")
