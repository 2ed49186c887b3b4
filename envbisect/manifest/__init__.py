"""Manifests: what a stack is pinned to, checked against the registry of keys, with the place of every fault.

The names load at first use: ``envbisect.manifest.stack``, which every layer needs, costs no pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from envbisect.manifest.burnin import CHECK_FAMILIES, Aggregate, Burnin, Classify, Metric, SignaturePolicy, Worse
    from envbisect.manifest.freeze import read_freeze
    from envbisect.manifest.model import Code, Launch, Manifest, PackageHome, PythonSettings
    from envbisect.manifest.pair import check_pair
    from envbisect.manifest.reader import load
    from envbisect.manifest.schema import json_schema
    from envbisect.manifest.sources import load_any
    from envbisect.manifest.spelling import nearest

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

_HOME: Final = {
    "CHECK_FAMILIES": "burnin",
    "Aggregate": "burnin",
    "Burnin": "burnin",
    "Classify": "burnin",
    "Code": "model",
    "Launch": "model",
    "Manifest": "model",
    "Metric": "burnin",
    "PackageHome": "model",
    "PythonSettings": "model",
    "SignaturePolicy": "burnin",
    "Worse": "burnin",
    "check_pair": "pair",
    "json_schema": "schema",
    "load": "reader",
    "load_any": "sources",
    "nearest": "spelling",
    "read_freeze": "freeze",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
