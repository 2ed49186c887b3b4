"""uv's words, recorded from uv 0.9 to 0.13, and what they mean."""

from __future__ import annotations

import pytest

from envbisect.packages.uvtext import Failure, classify, mentioned, notes, parse_compiled, reason, too_new, undated

NO_SOLUTION = "error: No solution found when resolving dependencies\n  cause: "
HTTPX = (
    NO_SOLUTION
    + "Because httpx==0.28.1 depends on httpcore==1.* and you require httpx==0.28.1, we can conclude that you"
    " require httpcore==1.*.\n         And because you require httpcore==0.16.3, we can conclude that your requirements"
    " are unsatisfiable.\n"
)
OLD_HTTPX = (
    "  × No solution found when resolving dependencies:\n  ╰─▶ Because httpx==0.28.1 depends on httpcore==1.* and you"
    " require httpcore==0.16.3, we can conclude that\n      your requirements are unsatisfiable.\n"
)
BUILD = """error: Failed to build `pyyaml==5.4`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)

         [stderr]
         AttributeError: cython_sources
"""
BUILD_OFFLINE = """error: Failed to build `pyyaml==5.4`
  cause: Failed to resolve requirements from `build-system.requires`
  cause: Failed to fetch: https://pypi.org/simple/cython/
  cause: error sending request for url (https://pypi.org/simple/cython/)
"""
BUILD_TOOLS = """error: Failed to build `old==1.0`
  cause: Failed to resolve requirements from `build-system.requires`
  cause: No solution found when resolving: `setuptools==1.0`
  cause: Because setuptools==1.0 depends on nothing==1 and nothing was not found in the package registry, …
"""


@pytest.mark.parametrize(
    ("text", "failure", "subjects"),
    [
        (HTTPX, Failure.CONFLICT, ("httpx", "httpcore")),
        (OLD_HTTPX, Failure.CONFLICT, ("httpx", "httpcore")),
        (
            NO_SOLUTION
            + "Because there is no version of httpx==9.9.9 and you require httpx==9.9.9, we can conclude that"
            " your requirements are unsatisfiable.",
            Failure.NO_VERSION,
            ("httpx==9.9.9",),
        ),
        (
            NO_SOLUTION + "Because Foo.Bar was not found in the package registry and you require foo-bar, we can …",
            Failure.NO_PACKAGE,
            ("foo-bar",),
        ),
        (
            NO_SOLUTION + "Because the current Python version (3.10.13) does not satisfy Python>=3.11 and numpy==2.4.6"
            " depends on Python>=3.11, we can conclude that numpy==2.4.6 cannot be used.",
            Failure.CONFLICT,
            ("numpy",),
        ),
        (
            NO_SOLUTION
            + "Because tensorflow==2.5.0 has no wheels with a matching Python ABI tag (e.g., `cp311`) and you"
            " require tensorflow==2.5.0, we can conclude that your requirements are unsatisfiable.",
            Failure.CONFLICT,
            ("tensorflow",),
        ),
        (
            NO_SOLUTION
            + "Because only numpy<=2.4.6 is available and all versions of scipy depend on numpy>=99, we can …",
            Failure.CONFLICT,
            ("numpy", "scipy"),
        ),
        (
            NO_SOLUTION + "Because rich was not found in the cache and you require rich, we can conclude that your"
            " requirements are unsatisfiable.\n\nhint: Packages were unavailable because the network was disabled.",
            Failure.OFFLINE,
            (),
        ),
        (BUILD, Failure.BUILD, ("pyyaml==5.4",)),
        (BUILD_TOOLS, Failure.BUILD, ("old==1.0",)),
        (BUILD_OFFLINE, Failure.NETWORK, ()),
        (BUILD.replace("AttributeError: cython_sources", "No space left on device"), Failure.MACHINE, ()),
        (
            "error: Failed to fetch: https://x/simple/\n  cause: HTTP status server error (502 Bad Gateway)",
            Failure.NETWORK,
            (),
        ),
        (
            "error: Failed to download and build `gpk @ git+file:///g@deadbeef`\n  cause: Git operation failed\n"
            "  cause: failed to find branch, tag, or commit `deadbeef`",
            Failure.INPUT,
            (),
        ),
        (
            "error: Failed to download and build `x @ git+https://h/x.git@abc`\n  cause: Git operation failed\n"
            "  cause: failed to fetch branch or tag `abc`\n   fatal: unable to access 'https://h/': Failed to connect",
            Failure.NETWORK,
            (),
        ),
        (
            "error: Couldn't parse requirement in `-` at position 0\n  cause: no such comparison operator",
            Failure.INPUT,
            (),
        ),
        ("error: invalid value 'yesterdayish' for '--exclude-newer <EXCLUDE_NEWER>'", Failure.INPUT, ()),
        ("thread 'main' panicked at crates/uv", Failure.UNKNOWN, ()),
    ],
)
def test_failures(text: str, failure: Failure, subjects: tuple[str, ...]) -> None:
    verdict = classify(text)
    assert (verdict.failure, verdict.subjects) == (failure, subjects)


def test_warnings_before_an_error_do_not_count() -> None:
    warning = "warning: A managed Python download is available, but\n  cause: dns error\n"
    assert classify(warning + HTTPX).failure is Failure.CONFLICT


def test_terminal_styles_do_not_matter() -> None:
    assert classify("\x1b[31merror\x1b[39m: " + HTTPX.removeprefix("error: ")).failure is Failure.CONFLICT


def test_the_reason_is_one_line_without_hints() -> None:
    text = reason(HTTPX + "\nhint: try something else\n")
    assert text.startswith("Because httpx==0.28.1 depends on httpcore==1.* and")
    assert text.endswith("are unsatisfiable.")
    assert "\n" not in text
    assert len(reason(HTTPX, limit=50)) <= 50
    assert reason(OLD_HTTPX).startswith("Because httpx==0.28.1")


def test_versions_are_no_names() -> None:
    assert mentioned("Because a==0.28.1 depends on b[x]>=1 and all versions of c-d depend on E_f<2, we") == (
        "a",
        "b",
        "c-d",
        "e-f",
    )


def test_what_the_cut_off_hid() -> None:
    text = (
        "warning: `jinja2-3.1.6-py3-none-any.whl` is missing an upload date, but user provided: 2020-01-01T00:00:00Z\n"
        'warning: `a==1` is yanked (reason: "bad")\n'
        + NO_SOLUTION
        + "Because there is no version of httpx==0.28.1 …\n\nhint: `httpx` was filtered by `exclude-newer` to"
    )
    assert undated(text) == ("jinja2-3.1.6-py3-none-any.whl",)
    assert too_new(text) == ("httpx",)
    assert notes(text) == ('`a==1` is yanked (reason: "bad")',)


def test_an_annotated_resolution() -> None:
    text = (
        "anyio==4.4.0              # via httpx, -c /dev/fd/63\n"
        "certifi==2026.10.19.post1  # via httpcore, httpx\n"
        "httpx==0.27.0             # via -r x.in\n"
        "idna==3.7\n"
        "six @ https://h/six-1.17.0-py2.py3-none-any.whl  # via -r x.in, anyio\n"
        "# a comment\n"
    )
    assert parse_compiled(text) == [
        ("anyio==4.4.0", ("httpx",)),
        ("certifi==2026.10.19.post1", ("httpcore", "httpx")),
        ("httpx==0.27.0", ()),
        ("idna==3.7", ()),
        ("six @ https://h/six-1.17.0-py2.py3-none-any.whl", ("anyio",)),
    ]
