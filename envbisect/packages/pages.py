"""Project pages of the simple API, JSON (PEP 691, 700) or HTML (PEP 503, 592, 658, 714), and pages of links."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

from envbisect.errors import EnvironmentFailure
from envbisect.packages.fetch import Page
from envbisect.packages.sources import masked

_BASE_URL: Final = "Is this the base URL of a simple index, or does a login page stand before it?"


@dataclass(frozen=True, slots=True)
class File:
    """One archive of an index. ``url`` is absolute, without fragment; ``hashes`` maps algorithm to hex digest.

    ``yanked`` is the reason ("" if none was given), None if it is not yanked. ``upload_time`` is RFC 3339 in UTC, empty
    if the index does not say. ``has_metadata`` tells whether ``url + ".metadata"`` exists (PEP 658).
    """

    filename: str
    url: str
    hashes: tuple[tuple[str, str], ...] = ()
    requires_python: str = ""
    yanked: str | None = None
    upload_time: str = ""
    size: int = 0
    has_metadata: bool = False

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")


def parse_page(page: Page) -> list[File]:
    """All files of a page, in its order.

    Raises:
        EnvironmentFailure: the page is not what its content type says, or no page of an index: a login page, a file.
    """
    if "json" in page.content_type:
        return _parse_json(page)
    if page.content_type and "html" not in page.content_type:
        raise _no_project_page(page, f"it is {page.content_type}")
    return _parse_html(page)


def _no_project_page(page: Page, why: str) -> EnvironmentFailure:
    return EnvironmentFailure(f"{masked(page.url)} is no project page: {why}"[:300], _BASE_URL)


def _parse_json(page: Page) -> list[File]:
    try:
        return [_from_entry(entry, page.url) for entry in json.loads(page.body)["files"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_project_page(page, f"{type(error).__name__} {error}") from error


def _from_entry(entry: dict[str, Any], base: str) -> File:
    yanked = entry.get("yanked", False)
    metadata = entry.get("core-metadata", entry.get("dist-info-metadata", False))
    return File(
        filename=str(entry["filename"]),
        url=urljoin(base, entry["url"]).partition("#")[0],
        hashes=tuple(sorted((entry.get("hashes") or {}).items())),
        requires_python=entry.get("requires-python") or "",
        yanked=None if yanked is False else yanked if isinstance(yanked, str) else "",
        upload_time=entry.get("upload-time") or "",
        size=entry.get("size") or 0,
        has_metadata=bool(metadata),
    )


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base = ""
        self.anchors: list[dict[str, str | None]] = []
        self.is_simple = False

    def handle_data(self, data: str) -> None:
        self.is_simple |= data.strip().lower().startswith("links for ")  # the title of a page without files

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.is_simple |= tag == "meta" and (attributes.get("name") or "").startswith("pypi:")  # PEP 629
        if tag == "base" and not self.base:
            self.base = attributes.get("href") or ""
        if tag == "a" and attributes.get("href"):
            self.anchors.append(attributes)


def _parse_html(page: Page) -> list[File]:
    parser = _Anchors()
    try:
        parser.feed(page.body.decode(_charset(page)))
        parser.close()
    except UnicodeDecodeError as error:
        raise _no_project_page(page, f"it is no text ({error.reason})") from error
    if not parser.anchors and not parser.is_simple:
        raise _no_project_page(page, "it has no link at all")
    base = urljoin(page.url, parser.base) if parser.base else page.url
    return [_from_anchor(anchor, base) for anchor in parser.anchors]


def _charset(page: Page) -> str:
    """What the content type says; HTML 5 is UTF-8, and old servers that say Latin-1 mean any byte."""
    import codecs
    import re

    found = re.search(r"charset=\"?([\w.:-]+)", page.content_type)
    try:
        return codecs.lookup(found[1]).name if found else "utf-8"
    except LookupError:
        return "utf-8"


def _from_anchor(attributes: dict[str, str | None], base: str) -> File:
    url, _, fragment = urljoin(base, attributes["href"] or "").partition("#")
    algorithm, _, digest = fragment.partition("=")
    metadata = attributes.get("data-core-metadata", attributes.get("data-dist-info-metadata"))
    return File(
        filename=unquote(Path(urlsplit(url).path).name),
        url=url,
        hashes=((algorithm, digest),) if digest else (),
        requires_python=attributes.get("data-requires-python") or "",
        yanked=(attributes["data-yanked"] or "") if "data-yanked" in attributes else None,
        has_metadata=metadata is not None and metadata.lower() != "false",
    )


def files_of_folder(folder: Path) -> list[File]:
    """The archives that lie in a folder (a ``--find-links`` folder), without dates: a file's time is not its upload."""
    return [
        File(path.name, path.resolve().as_uri(), size=path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.is_file()
    ]
