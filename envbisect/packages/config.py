"""Where packages come from: one answer for the index reader and for uv, whoever configured it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envbisect.errors import UsageError
from envbisect.packages.sources import Index, IndexStrategy, local_path, masked

if TYPE_CHECKING:
    from envbisect.packages.clientconf import ClientSettings

PYPI: Final = Index("https://pypi.org/simple")
NO_INDEX_URL: Final = "file:///var/empty/no-index"
"""Given to uv as its index when there shall be none: ``--no-index`` has no environment variable."""

_KEPT: Final = re.compile(
    r"UV_(CACHE_DIR|CREDENTIALS_DIR|HTTP_\w+|REQUEST_TIMEOUT|CONCURRENT_\w+|NATIVE_TLS|SYSTEM_CERTS|LINK_MODE|STACK_SIZE"
    r"|PYTHON_INSTALL_(DIR|MIRROR)|PYPY_INSTALL_MIRROR|INDEX_\w+_(USERNAME|PASSWORD)|\w+_ENDPOINT_URL)"
)
"""uv's variables that say how it reaches and stores things; all others may decide what gets installed."""

_FOREIGN: Final = frozenset({"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX"})
"""They would reach the builds of source distributions, or choose another environment."""


@dataclass(frozen=True, slots=True)
class IndexConfig:
    """Every source of packages and how it is reached.

    Attributes:
        index: the main index. Of equal versions the ``extra`` ones win, in their order (uv's rule).
        extra: further indexes.
        find_links: folders (absolute paths) and pages of links.
        constraints: absolute paths or URLs of constraint files that apply to every resolution.
        no_index: only ``find_links`` count.
        ca_certificate: path of a bundle, empty for the system's own.
        trusted_hosts: hosts (``host`` or ``host:port``) whose certificates are not checked.
        keyring: uv's ``keyring-provider`` ("disabled" or "subprocess"), empty if not set.
        timeout_s: for one request.
        origins: where this was read, for people.
    """

    index: Index = PYPI
    extra: tuple[Index, ...] = ()
    find_links: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    no_index: bool = False
    strategy: IndexStrategy = IndexStrategy.BEST_MATCH
    ca_certificate: str = ""
    trusted_hosts: tuple[str, ...] = ()
    proxy: str = ""
    keyring: str = ""
    timeout_s: float = 30.0
    origins: tuple[str, ...] = ()

    @property
    def indexes(self) -> tuple[Index, ...]:
        """All indexes in order of priority; empty with ``no_index``."""
        return () if self.no_index else (*self.extra, self.index)

    def describe(self) -> str:
        """One line without credentials: the sources in order of priority."""
        sources = [str(index) for index in self.indexes] + [masked(link) for link in self.find_links]
        return ", ".join(sources) or "no index"

    def __repr__(self) -> str:
        return f"IndexConfig({self.describe()})"


def read_config(
    manifest_indexes: Sequence[str] = (),
    *,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    prefix: Path | None = None,
) -> IndexConfig:
    """What ``python.index`` of a manifest says, else what uv and pip are configured with on this machine.

    A manifest's indexes replace the configured indexes and link pages: its author meant these and no others. How this
    machine reaches the network (certificates, proxy, timeouts) and its constraints stay as configured. An entry that
    is a folder of archives rather than an index counts as a page of links.

    Args:
        manifest_indexes: URLs or folders, the main index first.
        folder: what relative paths in ``manifest_indexes`` mean; required if there are any.
        environ: instead of this process's environment.
        prefix: the installation whose ``pip.conf`` counts as pip's "site" file; default: this interpreter's.

    Raises:
        UsageError: a configuration file or an index entry cannot be read.
    """
    from envbisect.packages import clientconf

    environ = os.environ if environ is None else environ
    uv = clientconf.uv_settings(environ)
    pip = clientconf.pip_settings(environ, prefix or Path(sys.prefix))
    config = _configured(uv, pip)
    if not manifest_indexes:
        return config
    pages = [_manifest_entry(entry, folder) for entry in manifest_indexes]
    indexes = [page for page in pages if isinstance(page, Index)]
    return replace(
        config,
        index=indexes[0] if indexes else PYPI,
        extra=tuple(indexes[1:]),
        find_links=tuple(page for page in pages if isinstance(page, str)),
        no_index=not indexes,
        strategy=IndexStrategy.BEST_MATCH,
        origins=("python.index of the manifest",),
    )


def _configured(uv: ClientSettings, pip: ClientSettings) -> IndexConfig:
    """uv's settings, completed by pip's: a machine set up for either is understood."""
    main = uv.index or pip.index or PYPI
    extra = [index for index in dict.fromkeys((*uv.extra, *pip.extra)) if index.url != main.url]
    if uv.index and pip.index and pip.index.url not in {main.url, *(index.url for index in extra)}:
        extra.append(pip.index)
    mixed = pip.index is not None or bool(pip.extra)
    default_strategy = IndexStrategy.BEST_MATCH if mixed else IndexStrategy.FIRST_INDEX
    return IndexConfig(
        index=main,
        extra=tuple(extra),
        find_links=tuple(dict.fromkeys((*uv.find_links, *pip.find_links))),
        constraints=tuple(dict.fromkeys((*uv.constraints, *pip.constraints))),
        no_index=uv.no_index or pip.no_index,
        strategy=IndexStrategy(uv.strategy) if uv.strategy else default_strategy,
        ca_certificate=uv.ca_certificate or pip.ca_certificate,
        trusted_hosts=tuple(dict.fromkeys((*uv.trusted_hosts, *pip.trusted_hosts))),
        proxy=pip.proxy,
        keyring=uv.keyring,
        timeout_s=uv.timeout_s or pip.timeout_s or 30.0,
        origins=(*uv.origins, *pip.origins) or ("the default",),
    )


def _manifest_entry(entry: str, folder: Path | None) -> Index | str:
    if "://" in entry and not entry.startswith("file://"):
        return Index.parse(entry)
    path = local_path(entry)
    if path is None:
        path = (folder or Path.cwd()) / entry
    if not path.is_dir():
        raise UsageError(f"python.index: {path} is not a folder", "Give the URL of an index or an existing folder.")
    flat = any(child.suffix in {".whl", ".gz", ".zip"} for child in path.iterdir())
    return str(path.resolve()) if flat else Index(path.resolve().as_uri())


def uv_environ(config: IndexConfig, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment to run uv in: ``environ`` (default: this process's) with ``config`` and nothing hidden.

    uv's own variables that decide what gets installed are taken out, with those that point at another environment, and
    its configuration files are switched off, since ``config`` already holds what they said; credentials of named
    indexes, caches and network limits stay.
    """
    base = os.environ if environ is None else environ
    result = {
        name: value
        for name, value in base.items()
        if name not in _FOREIGN and (not name.startswith("UV_") or _KEPT.fullmatch(name))
    }
    result["UV_NO_CONFIG"] = "1"
    result["UV_DEFAULT_INDEX"] = NO_INDEX_URL if config.no_index else config.index.as_uv()
    if config.extra and not config.no_index:
        result["UV_INDEX"] = " ".join(index.as_uv() for index in config.extra)
    if links := usable_find_links(config):
        result["UV_FIND_LINKS"] = ",".join(links)
    if config.constraints:
        result["UV_CONSTRAINT"] = " ".join(config.constraints)
    result["UV_INDEX_STRATEGY"] = config.strategy.value
    if config.keyring:
        result["UV_KEYRING_PROVIDER"] = config.keyring
    if config.trusted_hosts:
        result["UV_INSECURE_HOST"] = " ".join(config.trusted_hosts)
    if config.ca_certificate:
        result["SSL_CERT_FILE"] = config.ca_certificate
    if config.proxy:
        for scheme in ("HTTP_PROXY", "HTTPS_PROXY"):
            if scheme not in result and scheme.lower() not in result:
                result[scheme] = config.proxy
    result["UV_HTTP_TIMEOUT"] = str(max(1, round(config.timeout_s)))
    return result


def usable_find_links(config: IndexConfig) -> tuple[str, ...]:
    """``find_links`` without folders that do not exist: pip passes over them, uv would stop."""
    return tuple(link for link in config.find_links if (path := local_path(link)) is None or path.exists())
