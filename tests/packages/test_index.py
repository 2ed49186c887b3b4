"""Reading an index over HTTP and from folders: formats, merging, caching, retries, credentials, refusals."""

from __future__ import annotations

import base64
import time
from pathlib import Path

import pytest
from packaging.version import Version

from envbisect.errors import EnvironmentFailure, UsageError
from envbisect.packages.config import IndexConfig
from envbisect.packages.fetch import Fetcher, Page
from envbisect.packages.pages import parse_page
from envbisect.packages.simple import PackageIndex, moment_after, parse_filename
from envbisect.packages.sources import Index, IndexStrategy
from tests.packages.local_index import Served, publish, sdist, self_signed, serving, silent, wheel

HTML = b"""<!DOCTYPE html><html><head><base href="../files/"></head><body>
<a href="a-1.0-py3-none-any.whl#sha256=abc" data-requires-python="&gt;=3.8" data-core-metadata="sha256=d">a-1.0</a>
<a href="a-1.1.tar.gz" data-yanked="broken &amp; bad">a-1.1</a>
<a href="https://else/a-1.2%2Bcpu-py3-none-any.whl" data-yanked data-dist-info-metadata="false">a-1.2</a>
<a name="nothing">no link</a></body></html>"""


def test_html_pages() -> None:
    files = parse_page(Page("https://host/simple/a/", "text/html; charset=utf-8", HTML))
    assert [file.url for file in files] == [
        "https://host/simple/files/a-1.0-py3-none-any.whl",
        "https://host/simple/files/a-1.1.tar.gz",
        "https://else/a-1.2%2Bcpu-py3-none-any.whl",
    ]
    assert files[0].hashes == (("sha256", "abc"),)
    assert files[0].requires_python == ">=3.8"
    assert [file.has_metadata for file in files] == [True, False, False]
    assert [file.yanked for file in files] == [None, "broken & bad", ""]
    assert files[2].filename == "a-1.2+cpu-py3-none-any.whl"


def test_json_pages(served: Served, tmp_path: Path) -> None:
    served.add_json(
        "a",
        [
            {
                "filename": "a-1.0.tar.gz",
                "url": "../../a-1.0.tar.gz",
                "upload-time": "2020-01-02T00:00:00Z",
                "yanked": False,
            },
            {"filename": "a-1.0-py3-none-any.whl", "url": "https://x/w.whl", "upload-time": "2020-01-01T00:00:00Z"},
            {"filename": "a-2.0.tar.gz", "url": "a-2.0.tar.gz", "yanked": "no", "requires-python": None},
            {"filename": "a-0.9.egg", "url": "a-0.9.egg"},
        ],
    )
    project = PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("A")
    assert set(project.releases) == {Version("1.0"), Version("2.0")}
    first, second = project.require("1.0"), project.require("2.0")
    assert (first.upload_time, first.yanked) == ("2020-01-01T00:00:00Z", None)
    assert second.yanked == "no"
    assert [file.url for file in first.usable("3.11")] == ["https://x/w.whl", f"{served.url}/a-1.0.tar.gz"]


@pytest.mark.parametrize("body", [b'{"error": 1}', b'{"files": [{}]}', b'{"files": ["a"]}', b"[]", b"<html>"])
def test_a_page_of_something_else_is_refused(served: Served, tmp_path: Path, body: bytes) -> None:
    served.pages["/simple/a/"] = ("application/json", body, "")
    with pytest.raises(EnvironmentFailure, match="no project page"):
        PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("a")


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("Typing_Extensions-4.0-py3-none-any.whl", ("typing-extensions", Version("4.0"))),
        ("python-dateutil-2.8.2.tar.gz", ("python-dateutil", Version("2.8.2"))),
        ("a-1.0.zip", ("a", Version("1.0"))),
        ("a-1.0.tar.bz2", ("a", Version("1.0"))),
        ("a-1.0-py2.7.egg", None),
        ("a-1.0.win32-py2.7.exe", None),
        ("a-not.a.version.tar.gz", None),
    ],
)
def test_names_of_archives(filename: str, expected: tuple[str, Version] | None) -> None:
    assert parse_filename(filename) == expected


def test_sources_are_merged_or_the_first_wins(served: Served, tmp_path: Path) -> None:
    archive = wheel(tmp_path / "files", "a", "1.0")
    near = publish(tmp_path / "near", [archive])
    served.add_archives("a", [archive, wheel(tmp_path / "files", "a", "2.0")], ["2020-01-01T00:00:00Z"] * 2)
    wheel(tmp_path / "wheels", "a", "3.0+cpu")
    wheel(tmp_path / "wheels", "b", "1.0")

    def project_of(strategy: IndexStrategy) -> set[str]:
        config = IndexConfig(
            Index(f"{served.url}/simple"),
            (Index(near),),
            find_links=(str(tmp_path / "wheels"), str(tmp_path / "missing")),
            strategy=strategy,
        )
        project = PackageIndex(config, tmp_path / "cache").project("a")
        assert project.require("3.0").version == Version("3.0+cpu")
        if strategy is IndexStrategy.BEST_MATCH:  # the date of the same archive elsewhere
            assert project.require("1.0").upload_time == "2020-01-01T00:00:00Z"
        return {str(version) for version in project.releases}

    assert project_of(IndexStrategy.BEST_MATCH) == {"1.0", "2.0", "3.0+cpu"}
    assert project_of(IndexStrategy.FIRST_INDEX) == {"1.0", "3.0+cpu"}


def test_a_page_of_links(served: Served, tmp_path: Path) -> None:
    served.pages["/links.html"] = ("text/html", b'<a href="a-1.0.tar.gz">x</a><a href="b-1.0.tar.gz">y</a>', "")
    config = IndexConfig(no_index=True, find_links=(f"{served.url}/links.html",))
    index = PackageIndex(config, tmp_path)
    assert index.project("b").require("1.0").files[0].url == f"{served.url}/b-1.0.tar.gz"
    with pytest.raises(UsageError, match="no package c"):
        index.project("c")


def test_a_page_is_read_once_and_then_only_revalidated(served: Served, tmp_path: Path) -> None:
    served.add_json("a", [{"filename": "a-1.0.tar.gz", "url": "a-1.0.tar.gz"}], etag='"v1"')
    config = IndexConfig(Index(f"{served.url}/simple"))
    index = PackageIndex(config, tmp_path)
    assert index.project("a") is index.project("A")
    again = PackageIndex(config, tmp_path)
    assert again.project("a").get("1.0") is not None
    assert [status for _, _, status in served.log] == [200, 304]
    served.add_json("a", [{"filename": "a-2.0.tar.gz", "url": "a-2.0.tar.gz"}], etag='"v2"')
    assert PackageIndex(config, tmp_path).project("a").get("1.0") is None


def test_offline_uses_what_is_cached_and_names_what_is_not(served: Served, tmp_path: Path) -> None:
    served.add_json("a", [{"filename": "a-1.0.tar.gz", "url": "a-1.0.tar.gz"}])
    config = IndexConfig(Index(f"{served.url}/simple"))
    online = PackageIndex(config, tmp_path)
    online.prefetch(["a", "missing"])
    asked = len(served.log)
    offline = PackageIndex(config, tmp_path, offline=True)
    assert offline.project("a").get("1.0") is not None
    with pytest.raises(UsageError, match="no package missing"):  # known to be absent, not unknown
        offline.project("missing")
    with pytest.raises(EnvironmentFailure, match="not in the cache"):
        offline.project("b")
    assert len(served.log) == asked


def test_a_damaged_cache_entry_is_fetched_again(served: Served, tmp_path: Path) -> None:
    served.add_json("a", [{"filename": "a-1.0.tar.gz", "url": "a-1.0.tar.gz"}], etag='"v1"')
    config = IndexConfig(Index(f"{served.url}/simple"))
    PackageIndex(config, tmp_path).project("a")
    (entry,) = (tmp_path / "pages").iterdir()
    entry.write_bytes(entry.read_bytes()[:-5])
    assert PackageIndex(config, tmp_path).project("a").get("1.0") is not None


def test_a_busy_server_is_asked_again(served: Served, tmp_path: Path) -> None:
    served.add_json("a", [{"filename": "a-1.0.tar.gz", "url": "a-1.0.tar.gz"}])
    served.statuses["/simple/a/"] = [503]
    assert PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("a").get("1.0") is not None
    assert [status for _, _, status in served.log] == [503, 200]


def test_refusals_name_the_index_without_its_credentials(served: Served, tmp_path: Path) -> None:
    served.statuses["/simple/a/"] = [403]
    host = served.url.removeprefix("http://")
    with pytest.raises(EnvironmentFailure, match="access denied") as caught:
        PackageIndex(IndexConfig(Index(f"http://me:hunter2@{host}/simple")), tmp_path).project("a")
    assert "hunter2" not in caught.value.message
    assert host in caught.value.message


def test_an_unreachable_index(tmp_path: Path) -> None:
    fetcher = Fetcher(IndexConfig(), tmp_path, retries=0)
    with pytest.raises(EnvironmentFailure, match=r"http://127\.0\.0\.1:9/simple/a/ cannot be reached") as caught:
        fetcher.page("http://127.0.0.1:9/simple/a/")
    assert caught.value.hint


def test_which_certificates_are_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = self_signed(tmp_path)
    for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)
    with serving(certificate) as served:
        served.add_json("a", [])
        host = served.url.removeprefix("https://")

        def page(config: IndexConfig) -> bool:
            fetcher = Fetcher(config, tmp_path / "cache", retries=0)
            try:
                return fetcher.page(f"{served.url}/simple/a/") is not None
            finally:
                fetcher.close()

        with pytest.raises(EnvironmentFailure, match="certificate"):
            page(IndexConfig())
        assert page(IndexConfig(ca_certificate=str(certificate)))
        assert page(IndexConfig(trusted_hosts=("127.0.0.1",)))
        assert page(IndexConfig(trusted_hosts=(host,)))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))  # where OpenSSL finds the system's certificates
        assert page(IndexConfig())


def test_credentials_go_to_their_host_only(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served.add_json("a", [{"filename": "a-1.0.tar.gz", "url": "a-1.0.tar.gz"}])
    monkeypatch.setenv("UV_INDEX_CORP_PASSWORD", "pw")
    monkeypatch.setenv("UV_INDEX_CORP_USERNAME", "me")
    PackageIndex(IndexConfig(Index(f"{served.url}/simple", "corp")), tmp_path).project("a")
    host = served.url.removeprefix("http://")
    PackageIndex(IndexConfig(Index(f"http://you:x%40y@{host}/simple")), tmp_path / "2").project("a")
    PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "3").project("a")
    sent = [headers.get("Authorization", "") for _, headers, _ in served.log]
    assert [base64.b64decode(value.removeprefix("Basic ")).decode() for value in sent] == ["me:pw", "you:x@y", ""]


def test_the_moment_after_all_pins(served: Served, tmp_path: Path) -> None:
    archives = [
        wheel(tmp_path, "a", "1.0"),
        sdist(tmp_path, "a", "1.0", {"x": ""}),
        wheel(tmp_path, "a", "1.0", tag="cp399-cp399-any"),
    ]
    served.add_archives("a", archives, ["2020-01-01T00:00:00Z", "2020-01-01T00:05:00.5Z", "2024-01-01T00:00:00Z"])
    served.add_archives("b", [wheel(tmp_path, "b", "1.0")], ["2019-01-01T00:00:00Z"])
    served.add_archives("c", [wheel(tmp_path, "c", "1.0")])
    index = PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path / "cache")
    pins = [("a", "1.0"), ("b", "1.0"), ("c", "1.0")]
    assert moment_after(index, pins, python="3.11") == "2020-01-01T00:06:00Z"
    assert moment_after(index, pins[2:], python="3.11") == ""


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("text/html", b"<html><body>Please sign in</body></html>", "no link"),
        ("text/html", b"\x00\xff\xfe garbage \x80", "no text"),
        ("text/html; charset=utf-8", b"", "no link"),
        ("application/octet-stream", b"PK\x03\x04", "application/octet-stream"),
        ("", b"\x89PNG\r\n", "no text"),
    ],
)
def test_a_page_that_no_index_would_give_is_no_missing_package(
    served: Served, tmp_path: Path, kind: str, body: bytes, why: str
) -> None:
    served.pages["/simple/a/"] = (kind, body, "")
    with pytest.raises(EnvironmentFailure, match=f"{served.url}/simple/a/ is no project page: .*{why}"):
        PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("a")


@pytest.mark.parametrize(
    "body",
    [
        b"<html><head><title>Links for a</title></head><body><h1>Links for a</h1></body></html>",
        b'<html><head><meta name="pypi:repository-version" content="1.0"></head></html>',
    ],
)
def test_a_project_without_files_is_a_missing_package(served: Served, tmp_path: Path, body: bytes) -> None:
    served.pages["/simple/a/"] = ("text/html", body, "")
    with pytest.raises(UsageError, match="no package a"):
        PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("a")


def test_a_page_in_latin_1_is_read(served: Served, tmp_path: Path) -> None:
    body = '<a href="a-1.0.tar.gz">a-1.0.tar.gz</a> \u00e9'.encode("latin-1")
    served.pages["/simple/a/"] = ("text/html; charset=iso-8859-1", body, "")
    assert PackageIndex(IndexConfig(Index(f"{served.url}/simple")), tmp_path).project("a").releases


def test_an_index_that_never_answers_is_asked_twice(tmp_path: Path) -> None:
    with silent() as (url, connections):
        started = time.monotonic()
        index = PackageIndex(IndexConfig(Index(f"{url}/simple"), timeout_s=0.5), tmp_path)
        with pytest.raises(EnvironmentFailure, match=r"cannot be reached: .*timed out"):
            index.project("a")
        assert 1 <= time.monotonic() - started < 4
        assert len(connections) == 2


def test_a_silent_index_is_given_up_for_all_packages_at_once(tmp_path: Path) -> None:
    with silent() as (url, _connections):
        started = time.monotonic()
        index = PackageIndex(IndexConfig(Index(f"{url}/simple"), timeout_s=0.5), tmp_path)
        with pytest.raises(EnvironmentFailure):
            index.prefetch(f"package{number}" for number in range(100))
        assert time.monotonic() - started < 5
