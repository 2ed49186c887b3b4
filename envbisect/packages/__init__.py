"""Package indexes, ladders of releases, metadata, and resolution with uv."""

from envbisect.packages.config import IndexConfig, read_config, uv_environ
from envbisect.packages.ladder import Ladder, LadderStep, ladder
from envbisect.packages.pythons import find_python
from envbisect.packages.simple import PackageIndex
from envbisect.packages.uv import BuildFailed, Conflict, Resolution, Resolver, find_uv

__all__ = [
    "BuildFailed",
    "Conflict",
    "IndexConfig",
    "Ladder",
    "LadderStep",
    "PackageIndex",
    "Resolution",
    "Resolver",
    "find_python",
    "find_uv",
    "ladder",
    "read_config",
    "uv_environ",
]
