"""Manifests: what a stack is pinned to, checked against the registry of keys, with the place of every fault."""

from envbisect.manifest.burnin import CHECK_FAMILIES, Aggregate, Burnin, Classify, Metric, SignaturePolicy, Worse
from envbisect.manifest.freeze import read_freeze
from envbisect.manifest.load import load
from envbisect.manifest.model import Code, Launch, Manifest, PackageHome, PythonSettings
from envbisect.manifest.nearest import nearest
from envbisect.manifest.pair import check_pair
from envbisect.manifest.schema import json_schema
from envbisect.manifest.sources import load_any

__all__ = [
    "CHECK_FAMILIES",
    "Aggregate",
    "Burnin",
    "Classify",
    "Code",
    "Launch",
    "Manifest",
    "Metric",
    "PackageHome",
    "PythonSettings",
    "SignaturePolicy",
    "Worse",
    "check_pair",
    "json_schema",
    "load",
    "load_any",
    "nearest",
    "read_freeze",
]
