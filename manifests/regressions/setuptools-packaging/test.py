"""Make a source distribution of the smallest project that still has a setup.py."""

import os
import runpy
import sys
import tempfile
from pathlib import Path

with tempfile.TemporaryDirectory() as project:
    os.chdir(project)
    Path("setup.py").write_text("import setuptools; setuptools.setup(name='smallest', version='1.0', py_modules=[])")
    sys.argv = ["setup.py", "--quiet", "sdist"]
    runpy.run_path("setup.py", run_name="__main__")
    made = [archive.name for archive in Path("dist").iterdir()]
    os.chdir("/")
print("made", *made)
