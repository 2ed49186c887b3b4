"""Readers of what pip and uv are configured with: environment variables and configuration files.

Sources: pip's "Configuration" page (order of files, ``PIP_*``), uv's "Configuration files" and "Environment variables".
"""

from __future__ import annotations

import configparser
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from envbisect.errors import UsageError
from envbisect.packages.sources import Index

_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_PIP_SOURCES = frozenset({"index-url", "extra-index-url", "find-links", "constraint", "no-index"})


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What one client is configured with; empty where it is silent. Paths are absolute."""

    index: Index | None = None
    extra: tuple[Index, ...] = ()
    find_links: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    no_index: bool = False
    strategy: str = ""
    ca_certificate: str = ""
    trusted_hosts: tuple[str, ...] = ()
    proxy: str = ""
    keyring: str = ""
    timeout_s: float = 0.0
    origins: tuple[str, ...] = ()


def pip_settings(environ: Mapping[str, str], prefix: Path) -> ClientSettings:
    """pip's configuration for ``pip install``: files from global to site, then ``PIP_CONFIG_FILE``, then ``PIP_*``.

    Raises:
        UsageError: a file cannot be parsed.
    """
    values: dict[str, str] = {}
    origins: list[str] = []
    commands: dict[str, str] = {}
    for path in _pip_files(environ, prefix):
        sections = _read_ini(path)
        if sections is None:
            continue
        values |= sections.get("global", {})
        commands |= sections.get("install", {})
        origins.append(str(path))
    values |= commands  # pip reads [install] of every file after [global] of every file
    set_here = {name: value for name, value in environ.items() if name.startswith("PIP_") and value}
    variables = {name.removeprefix("PIP_").lower().replace("_", "-"): value for name, value in set_here.items()}
    values |= variables
    if variables.keys() & _PIP_SOURCES:
        origins.append("PIP_* variables")
    bundles = (values.get("cert", "").strip(), environ.get("REQUESTS_CA_BUNDLE"), environ.get("CURL_CA_BUNDLE"))
    certificate = next((bundle for bundle in bundles if bundle), "")  # pip stands on requests
    return ClientSettings(
        index=Index.parse(values["index-url"].strip()) if values.get("index-url", "").strip() else None,
        extra=tuple(Index.parse(url) for url in values.get("extra-index-url", "").split()),
        find_links=_absolute(values.get("find-links", "").split()),
        constraints=_absolute(values.get("constraint", "").split()),
        no_index=values.get("no-index", "").strip().lower() in _TRUE,
        ca_certificate="".join(_absolute([certificate])) if certificate else "",
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
        proxy=values.get("proxy", "").strip(),
        timeout_s=_seconds(values.get("timeout", values.get("default-timeout", ""))),
        origins=tuple(origins),
    )


def _pip_files(environ: Mapping[str, str], prefix: Path) -> list[Path]:
    """pip's files, weakest first. A ``PIP_CONFIG_FILE`` that exists stands for the user's; /dev/null means none."""
    chosen = environ.get("PIP_CONFIG_FILE", "")
    if chosen == os.devnull:
        return []
    files = [*(root / "pip/pip.conf" for root in reversed(_xdg_config_dirs(environ))), Path("/etc/pip.conf")]
    home = _home(environ)
    if not (chosen and Path(chosen).exists()):
        files += [home / ".pip/pip.conf", _xdg_config_home(environ) / "pip/pip.conf"]
    if environ.get("VIRTUAL_ENV"):
        files.append(Path(environ["VIRTUAL_ENV"]) / "pip.conf")
    else:
        files.append(prefix / "pip.conf")
    if chosen:
        files.append(Path(chosen))
    return files


def _read_ini(path: Path) -> dict[str, dict[str, str]] | None:
    parser = configparser.RawConfigParser()
    try:
        if not parser.read(path, encoding="utf-8"):
            return None
    except (configparser.Error, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{path}: pip's configuration cannot be read: {reason}", "Correct or remove it.") from error
    return {
        section: {name.lower().replace("_", "-"): value for name, value in parser.items(section)}
        for section in parser.sections()
    }


def uv_settings(environ: Mapping[str, str]) -> ClientSettings:
    """uv's configuration of this user and system (never a project's): variables, then ``uv.toml``, user's first.

    Indexes marked ``explicit`` are left out: uv asks them only for packages that a project ties to them.

    Raises:
        UsageError: a file cannot be parsed.
    """
    tables: list[Mapping[str, object]] = []
    origins: list[str] = []
    for path in _uv_files(environ):
        table = _read_toml(path)
        if table is not None:
            pip_table = table.get("pip")
            tables += [table, *([pip_table] if isinstance(pip_table, dict) else [])]
            origins.append(str(path))
    if any(name in environ for name in ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL")):
        origins.append("UV_* variables")
    declared = [entry for table in tables for entry in _tables(table.get("index")) if not entry.get("explicit")]
    defaults = [_index_of(entry) for entry in declared if entry.get("default")]
    main = environ.get("UV_DEFAULT_INDEX") or environ.get("UV_INDEX_URL") or _first_text(tables, "index-url")
    extra = [*environ.get("UV_INDEX", "").split(), *environ.get("UV_EXTRA_INDEX_URL", "").split()]
    links = [link.strip() for link in environ.get("UV_FIND_LINKS", "").split(",") if link.strip()]
    return ClientSettings(
        index=Index.parse(main) if main else defaults[0] if defaults else None,
        extra=(
            *(Index.parse(text) for text in extra),
            *(_index_of(entry) for entry in declared if not entry.get("default")),
            *(Index.parse(text) for text in _all_texts(tables, "extra-index-url")),
        ),
        find_links=_absolute([*links, *_all_texts(tables, "find-links")]),
        constraints=_absolute(environ.get("UV_CONSTRAINT", "").split()),
        no_index=any(table.get("no-index") is True for table in tables),
        strategy=environ.get("UV_INDEX_STRATEGY") or _first_text(tables, "index-strategy"),
        ca_certificate=environ.get("SSL_CERT_FILE", ""),
        trusted_hosts=(
            *environ.get("UV_INSECURE_HOST", "").split(),
            *_all_texts(tables, "allow-insecure-host"),
        ),
        keyring=environ.get("UV_KEYRING_PROVIDER") or _first_text(tables, "keyring-provider"),
        timeout_s=_seconds(environ.get("UV_HTTP_TIMEOUT", "")),
        origins=tuple(origins),
    )


def _uv_files(environ: Mapping[str, str]) -> list[Path]:
    if environ.get("UV_NO_CONFIG", "").lower() in _TRUE:
        return []
    if environ.get("UV_CONFIG_FILE"):
        return [Path(environ["UV_CONFIG_FILE"])]
    system = [root / "uv/uv.toml" for root in _xdg_config_dirs(environ)] + [Path("/etc/uv/uv.toml")]
    first_system = [path for path in system if path.is_file()][:1]  # uv reads one system file
    return [_xdg_config_home(environ) / "uv/uv.toml", *first_system]


def _read_toml(path: Path) -> dict[str, object] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{path}: uv's configuration cannot be read: {error}", "Correct or remove it.") from error


def _tables(value: object) -> list[Mapping[str, object]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _index_of(entry: Mapping[str, object]) -> Index:
    return Index(str(entry.get("url", "")).rstrip("/"), str(entry.get("name", "")))


def _first_text(tables: Iterable[Mapping[str, object]], key: str) -> str:
    return next((value for table in tables if isinstance(value := table.get(key), str)), "")


def _all_texts(tables: Iterable[Mapping[str, object]], key: str) -> list[str]:
    return [text for table in tables if isinstance(value := table.get(key), list) for text in value]


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path.home()


def _xdg_config_home(environ: Mapping[str, str]) -> Path:
    return Path(environ["XDG_CONFIG_HOME"]) if environ.get("XDG_CONFIG_HOME") else _home(environ) / ".config"


def _xdg_config_dirs(environ: Mapping[str, str]) -> list[Path]:
    return [Path(part) for part in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":") if part]


def _absolute(places: Iterable[str]) -> tuple[str, ...]:
    """URLs as they are, paths absolute with ``~`` expanded: uv runs in another folder."""
    return tuple(place if "://" in place else str(Path(place).expanduser().absolute()) for place in places)


def _seconds(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0
