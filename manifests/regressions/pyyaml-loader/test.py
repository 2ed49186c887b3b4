"""Read a document the old way: yaml.load() with nothing but the text."""

import warnings

import yaml

warnings.simplefilter("ignore")
if yaml.load("stack: {torch: 2, threads: [1, 2]}") != {"stack": {"torch": 2, "threads": [1, 2]}}:
    raise SystemExit(125)
print("read")
