"""One index, how several are combined, and how their URLs are shown: credentials never leave a URL unmasked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_USERINFO: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/\s@'\"`<>]+@")
_SECRETS: Final = "token|access_token|private_token|sig|signature|auth|key|apikey|password"
_QUERY: Final = re.compile(rf"(?i)(?P<name>[?&](?:{_SECRETS})=)[^&\s#'\"]+")


def masked(text: str) -> str:
    """``text`` with the user part of every URL, and tokens in its query, replaced by ``****``.

    A user name alone may be a token (``https://TOKEN@host/``), therefore it is masked too.
    """
    return _QUERY.sub(r"\g<name>****", _USERINFO.sub(r"\g<scheme>****@", text))


def local_path(url: str) -> Path | None:
    """The path of a ``file:`` URL or of an absolute path, else None."""
    if url.startswith("/"):
        return Path(url)
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


class IndexStrategy(StrEnum):
    """How several indexes that know the same package are combined (uv's words)."""

    FIRST_INDEX = "first-index"  # the first index that has the package is the only one
    FIRST_MATCH = "unsafe-first-match"
    BEST_MATCH = "unsafe-best-match"  # as pip does: all versions of all indexes


@dataclass(frozen=True, slots=True)
class Index:
    """One index by its base URL (``https://pypi.org/simple``); ``name`` is uv's name for it, may be empty."""

    url: str
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Index:
        """``https://…`` or, as uv writes it, ``name=https://…``."""
        name, separator, url = text.partition("=")
        if separator and "/" not in name and ":" not in name:
            return cls(url.rstrip("/"), name)
        return cls(text.rstrip("/"))

    def as_uv(self) -> str:
        return f"{self.name}={self.url}" if self.name else self.url

    def __str__(self) -> str:
        return masked(self.url)

    def __repr__(self) -> str:  # a credential must not reach a log by way of a traceback
        return f"Index({masked(self.url)!r}, {self.name!r})"
