"""Package indexes, ladders of releases, metadata, and resolution with uv."""

from envbisect.packages.caches import build_cache_dir
from envbisect.packages.config import IndexConfig, read_config, uv_environ
from envbisect.packages.ladder import Ladder, LadderStep, ladder
from envbisect.packages.metadata import Metadata, MetadataReader
from envbisect.packages.pythons import find_python
from envbisect.packages.simple import PackageIndex, moment_after
from envbisect.packages.uv import BuildFailed, Conflict, Resolution, Resolver, find_uv

__all__ = [
    "BuildFailed",
    "Conflict",
    "IndexConfig",
    "Ladder",
    "LadderStep",
    "Metadata",
    "MetadataReader",
    "PackageIndex",
    "Resolution",
    "Resolver",
    "build_cache_dir",
    "find_python",
    "find_uv",
    "ladder",
    "moment_after",
    "read_config",
    "uv_environ",
]
