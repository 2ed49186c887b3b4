"""What pip and uv are configured with is understood as they understand it."""

from __future__ import annotations

from pathlib import Path

import pytest

from envbisect.errors import UsageError
from envbisect.packages.config import NO_INDEX_URL, IndexConfig, read_config, uv_environ
from envbisect.packages.sources import Index, IndexStrategy, masked


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """A machine whose user configured nothing; only /etc/pip.conf of the real one may still speak."""
    return {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": str(tmp_path / "xdg"), "PIP_CONFIG_FILE": "/dev/null"}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_nothing_configured_is_pypi(bare: dict[str, str]) -> None:
    config = read_config(environ=bare)
    assert config == IndexConfig(strategy=IndexStrategy.FIRST_INDEX, origins=("the default",))
    assert config.describe() == "https://pypi.org/simple"


def test_pip_variables_beat_files_and_files_are_layered(tmp_path: Path, bare: dict[str, str]) -> None:
    del bare["PIP_CONFIG_FILE"]
    write(tmp_path / "xdg/pip/pip.conf", "[global]\nindex-url = https://global/simple\nproxy = http://proxy:3128\n")
    write(
        tmp_path / "home/.config/pip/pip.conf", "[install]\nextra_index_url =\n  https://a/simple\n  https://b/simple\n"
    )
    write(tmp_path / "venv/pip.conf", "[global]\nindex-url = https://site/simple\nextra-index-url = https://weaker/\n")
    bare |= {
        "VIRTUAL_ENV": str(tmp_path / "venv"),
        "PIP_TIMEOUT": "7",
        "PIP_FIND_LINKS": "~/wheels https://host/links/",
    }
    config = read_config(environ=bare)
    assert config.index == Index("https://site/simple")
    assert config.extra == (Index("https://a/simple"), Index("https://b/simple"))  # [install] beats any [global]
    assert config.find_links == (str(Path("~/wheels").expanduser()), "https://host/links/")
    assert (config.proxy, config.timeout_s, config.strategy) == ("http://proxy:3128", 7.0, IndexStrategy.BEST_MATCH)
    assert str(tmp_path / "venv/pip.conf") in config.origins


def test_pip_config_file_stands_for_the_users(tmp_path: Path, bare: dict[str, str]) -> None:
    write(tmp_path / "home/.config/pip/pip.conf", "[global]\nindex-url = https://user/simple\n")
    chosen = write(tmp_path / "mine.conf", "[global]\nextra-index-url = https://mine/simple\n")
    config = read_config(environ=bare | {"PIP_CONFIG_FILE": str(chosen)})
    assert config.index.url == "https://pypi.org/simple"
    assert config.extra == (Index("https://mine/simple"),)


def test_uv_toml_of_the_user_and_variables(tmp_path: Path, bare: dict[str, str]) -> None:
    write(
        tmp_path / "home/.config/uv/uv.toml",
        'index-strategy = "unsafe-first-match"\nallow-insecure-host = ["inner:8080"]\n'
        '[[index]]\nname = "corp"\nurl = "https://corp/simple/"\n'
        '[[index]]\nname = "torch"\nurl = "https://torch/cu128"\nexplicit = true\n'
        '[[index]]\nurl = "https://mirror/simple"\ndefault = true\n[pip]\nfind-links = ["/srv/wheels"]\n',
    )
    config = read_config(environ=bare)
    assert config.index == Index("https://mirror/simple")
    assert config.extra == (Index("https://corp/simple", "corp"),)
    assert config.find_links == ("/srv/wheels",)
    assert config.trusted_hosts == ("inner:8080",)
    assert config.strategy is IndexStrategy.FIRST_MATCH
    environ = bare | {"UV_DEFAULT_INDEX": "https://env/simple", "UV_INDEX": "inner=https://x/simple https://y/simple"}
    changed = read_config(environ=environ)
    assert changed.index == Index("https://env/simple")
    assert changed.extra[:2] == (Index("https://x/simple", "inner"), Index("https://y/simple"))


def test_uv_and_pip_complete_each_other(bare: dict[str, str]) -> None:
    environ = bare | {
        "UV_DEFAULT_INDEX": "https://uv/simple",
        "PIP_INDEX_URL": "https://pip/simple/",
        "PIP_EXTRA_INDEX_URL": "https://uv/simple https://more/simple",
    }
    config = read_config(environ=environ)
    assert [index.url for index in config.indexes] == ["https://more/simple", "https://pip/simple", "https://uv/simple"]


def test_a_manifest_replaces_indexes_but_not_the_way_out(tmp_path: Path, bare: dict[str, str]) -> None:
    write(tmp_path / "wheels/a-1-py3-none-any.whl", "")
    write(tmp_path / "simple/a/index.html", "")
    environ = bare | {"PIP_EXTRA_INDEX_URL": "https://gone/simple", "PIP_CERT": "/ca.pem", "PIP_FIND_LINKS": "/links"}
    config = read_config(["https://one/simple", "simple", "wheels"], folder=tmp_path, environ=environ)
    assert [index.url for index in config.indexes] == [(tmp_path / "simple").as_uri(), "https://one/simple"]
    assert config.find_links == (str(tmp_path / "wheels"),)
    assert config.ca_certificate == "/ca.pem"
    assert read_config(["wheels"], folder=tmp_path, environ=bare).no_index


@pytest.mark.parametrize(("name", "text"), [("pip/pip.conf", "index-url = x\n"), ("uv/uv.toml", "index = [\n")])
def test_an_unreadable_file_is_named(tmp_path: Path, bare: dict[str, str], name: str, text: str) -> None:
    del bare["PIP_CONFIG_FILE"]
    path = write(tmp_path / "home/.config" / name, text)
    with pytest.raises(UsageError, match=str(path)):
        read_config(environ=bare)


def test_a_missing_folder_in_the_manifest_is_an_error(tmp_path: Path, bare: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        read_config(["./nowhere"], folder=tmp_path, environ=bare)


def test_uv_gets_everything_and_nothing_hidden(tmp_path: Path) -> None:
    config = IndexConfig(
        Index("https://main/simple"),
        (Index("https://u:p@extra/simple", "corp"),),
        find_links=(str(tmp_path), str(tmp_path / "missing"), "https://host/links"),
        constraints=("/etc/c.txt", "/etc/d.txt"),
        ca_certificate="/ca.pem",
        trusted_hosts=("inner",),
        proxy="http://proxy",
        keyring="subprocess",
        timeout_s=12,
    )
    hidden = {
        "UV_EXCLUDE_NEWER": "2020-01-01",
        "UV_INDEX_URL": "https://other",
        "UV_PRERELEASE": "allow",
        "PYTHONPATH": "/x",
    }
    kept = {"UV_INDEX_CORP_PASSWORD": "secret", "UV_CACHE_DIR": "/cache", "PATH": "/bin", "https_proxy": "http://own"}
    assert uv_environ(config, hidden | kept) == kept | {
        "UV_NO_CONFIG": "1",
        "UV_DEFAULT_INDEX": "https://main/simple",
        "UV_INDEX": "corp=https://u:p@extra/simple",
        "UV_FIND_LINKS": f"{tmp_path},https://host/links",
        "UV_CONSTRAINT": "/etc/c.txt /etc/d.txt",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_KEYRING_PROVIDER": "subprocess",
        "UV_INSECURE_HOST": "inner",
        "SSL_CERT_FILE": "/ca.pem",
        "HTTP_PROXY": "http://proxy",
        "UV_HTTP_TIMEOUT": "12",
    }
    assert uv_environ(IndexConfig(no_index=True), {})["UV_DEFAULT_INDEX"] == NO_INDEX_URL


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PIP_CERT": "/pip.pem", "REQUESTS_CA_BUNDLE": "/requests.pem"}, "/pip.pem"),
        ({"REQUESTS_CA_BUNDLE": "/requests.pem"}, "/requests.pem"),
        ({"SSL_CERT_FILE": "/ssl.pem", "PIP_CERT": "/pip.pem"}, "/ssl.pem"),
        ({}, ""),
    ],
)
def test_certificates(bare: dict[str, str], variables: dict[str, str], expected: str) -> None:
    assert read_config(environ=bare | variables).ca_certificate == expected


def test_credentials_are_never_shown() -> None:
    config = IndexConfig(Index("https://user:hunter2@host/simple"), (Index("https://t0ken@extra/simple"),))
    for text in (repr(config), str(config.index), repr(config.extra), config.describe()):
        assert "hunter2" not in text
        assert "t0ken" not in text
        assert "host/simple" in text or "extra/simple" in text
    assert (
        masked("see https://a:b@h/x?token=abc&y=1 and http://h/") == "see https://****@h/x?token=****&y=1 and http://h/"
    )
