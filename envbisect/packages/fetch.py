"""Getting pages and files of an index: retries, deadlines, a disk cache that is revalidated, and an offline mode."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit, urlunsplit

from envbisect.errors import EnvironmentFailure
from envbisect.packages.config import IndexConfig
from envbisect.packages.sources import local_path, masked
from envbisect.packages.store import Entry, read_entry, write_entry
from envbisect.packages.transport import RETRIES, new_session

if TYPE_CHECKING:
    import requests

ACCEPT: Final = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"  # PEP 691
)
_ABSENT: Final = frozenset({404, 410})
_DENIES_WHAT_IS_ABSENT: Final = (".pytorch.org",)  # uv knows this index too
_PARTIAL: Final = 206
_NO_SUCH_RANGE: Final = 416


@dataclass(frozen=True, slots=True)
class Page:
    """A document of an index. ``url`` is where it finally came from: its links are relative to that."""

    url: str
    content_type: str
    body: bytes


class Fetcher:
    """Reads ``http(s)`` and ``file`` URLs with an index configuration. Safe to use from several threads.

    Args:
        config: certificates, proxy, credentials and timeout come from here.
        cache_dir: where answers are kept; shared between runs.
        offline: never touch the network; what is not in the cache is a failure.
    """

    def __init__(self, config: IndexConfig, cache_dir: Path, *, offline: bool = False, retries: int = RETRIES) -> None:
        self.config = config
        self.offline = offline
        self.retries = retries
        self.cache_dir = cache_dir
        self._lock = threading.Lock()
        self._session: requests.Session | None = None
        self._credentials = _credentials(config, os.environ)

    def page(self, url: str) -> Page | None:
        """A page that may change: from the cache only after asking the server whether it still holds.

        Returns None if there is no such page (404).

        Raises:
            EnvironmentFailure: the server cannot be reached or refuses; or offline and not cached.
        """
        path = local_path(url)
        if path is not None:
            return _local_page(path)
        entry = self.cache_dir / "pages" / _key(url)
        known = read_entry(entry)
        if self.offline:
            if known is None:
                raise EnvironmentFailure(f"{masked(url)} is not in the cache", "Run once without --offline.")
            return _as_page(known)
        conditions = {"Accept": ACCEPT, "Cache-Control": "max-age=0"}
        if known is not None and known.etag:
            conditions["If-None-Match"] = known.etag
        answer = self._get(url, conditions)
        if answer.status_code == 304 and known is not None:
            return _as_page(known)
        fresh = Entry(
            status=answer.status_code,
            url=_without_user(answer.url),
            content_type=answer.headers.get("Content-Type", ""),
            etag=answer.headers.get("ETag", ""),
            body=b"" if answer.status_code in _ABSENT else answer.content,
        )
        write_entry(entry, fresh)
        return _as_page(fresh)

    def read(
        self, url: str, byte_range: tuple[int, int] | None = None, *, limit_bytes: int | None = None
    ) -> bytes | None:
        """A file, or its bytes from ``first`` to ``last`` inclusive; not cached. ``(-n, 0)`` asks for the last n bytes.

        Returns None if there is no such file, if it is longer than ``limit_bytes``, or if a range was asked and the
        server does not do ranges.

        Raises:
            EnvironmentFailure: as for ``page``.
        """
        path = local_path(url)
        if path is not None:
            return _local_bytes(path, byte_range)
        if self.offline:
            raise EnvironmentFailure(f"{masked(url)} is not in the cache", "Run once without --offline.")
        headers = {"Accept-Encoding": "identity"}
        if byte_range is not None:
            first, last = byte_range
            headers["Range"] = f"bytes={first}" if first < 0 else f"bytes={first}-{last}"
        with self._get(url, headers, stream=True) as answer:
            if answer.status_code in _ABSENT or (byte_range is not None and answer.status_code != _PARTIAL):
                return None
            try:
                return _body(answer, limit_bytes)
            except OSError as error:  # what requests raises while reading is an OSError too
                raise EnvironmentFailure(
                    f"{masked(url)} broke off: {_reason(error)}", "Check the network and try again."
                ) from error

    def _get(self, url: str, headers: dict[str, str], *, stream: bool = False) -> requests.Response:
        import requests

        host = urlsplit(url).hostname or ""
        try:
            answer = self._connect().get(
                _without_user(url),
                headers=headers,
                auth=self._credentials.get(host),
                timeout=(min(self.config.timeout_s, 30.0), self.config.timeout_s),
                verify=False if self._trusted(url) else self.config.ca_certificate or True,
                stream=stream,
            )
        except (requests.RequestException, OSError) as error:
            raise EnvironmentFailure(
                f"{masked(url)} cannot be reached: {_reason(error)}",
                "Check the network, the proxy and the index that pip or uv are configured with.",
            ) from error
        if answer.status_code == 403 and host.endswith(_DENIES_WHAT_IS_ABSENT):
            answer.status_code = 404
        if answer.status_code in {401, 403, 407}:
            raise EnvironmentFailure(
                f"{masked(url)}: access denied ({answer.status_code})",
                "Give credentials as pip or uv want them: in the URL, in ~/.netrc or as UV_INDEX_<NAME>_PASSWORD.",
            )
        if answer.status_code >= 400 and answer.status_code not in {*_ABSENT, _NO_SUCH_RANGE}:
            raise EnvironmentFailure(f"{masked(url)}: the index answers {answer.status_code}", "Try again later.")
        return answer

    def _trusted(self, url: str) -> bool:
        parts = urlsplit(url)
        return bool({parts.hostname or "", parts.netloc.rpartition("@")[2]} & set(self.config.trusted_hosts))

    def _connect(self) -> requests.Session:
        with self._lock:
            if self._session is None:
                self._session = new_session(self.config, retries=self.retries)
            return self._session

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            if self._session is not None:
                self._session.close()
                self._session = None


def _body(answer: requests.Response, limit_bytes: int | None) -> bytes | None:
    chunks: list[bytes] = []
    size = 0
    for chunk in answer.iter_content(1 << 16):
        chunks.append(chunk)
        size += len(chunk)
        if limit_bytes is not None and size > limit_bytes:
            return None
    return b"".join(chunks)


def _as_page(entry: Entry) -> Page | None:
    return None if entry.status in _ABSENT else Page(entry.url, entry.content_type, entry.body)


def _credentials(config: IndexConfig, environ: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """User and password by host: from URLs and uv's variables for named indexes. netrc is requests' own work."""
    found: dict[str, tuple[str, str]] = {}
    places = [(index.url, index.name) for index in config.indexes] + [(link, "") for link in config.find_links]
    for place, name in places:
        parts = urlsplit(place)
        if not parts.hostname:
            continue
        variable = f"UV_INDEX_{name.upper().replace('-', '_').replace('.', '_')}"
        user = unquote(parts.username or "") or (environ.get(f"{variable}_USERNAME", "") if name else "")
        password = unquote(parts.password or "") or (environ.get(f"{variable}_PASSWORD", "") if name else "")
        if user or password:
            found.setdefault(parts.hostname, (user, password))
    return found


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words: the outer layers repeat the URL."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return masked(str(error).rpartition(": ")[2] or type(error).__name__)[:200]


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _local_page(path: Path) -> Page | None:
    for candidate in (path, path / "index.html"):
        if candidate.is_file():
            return Page(candidate.as_uri(), "text/html", candidate.read_bytes())
    return None


def _local_bytes(path: Path, byte_range: tuple[int, int] | None) -> bytes | None:
    if not path.is_file():
        return None
    if byte_range is None:
        return path.read_bytes()
    first, last = byte_range
    size = path.stat().st_size
    start, end = (max(0, size + first), size) if first < 0 else (first, last + 1)
    with path.open("rb") as file:
        file.seek(start)
        return file.read(end - start)
