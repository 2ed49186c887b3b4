"""Lines of keys, against the parser that gives the values and against texts whose lines are known."""

from __future__ import annotations

import json

import tomli
from hypothesis import given
from hypothesis import strategies as st

from envbisect.manifest.positions import TreePath, key_lines


def paths_of(value: object, path: TreePath = ()) -> set[TreePath]:
    """Every path of a parsed document; elements of arrays included."""
    children: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    found = {path} if path else set()
    for name, child in children:
        found |= paths_of(child, (*path, name))
    return found


TRICKY = '''# a comment with [brackets] and = signs
title = "x = 1 # no comment"
"quoted.key" = 'lit # eral'
'single "inside"' = 3
bare-key_1 = 1979-05-27 07:32:00Z  # trailing
a.b."c.d".e = [ 1, [ "x]", 'y,' ], # comment, with ] in it
  { k = 1, "l" = "}" },
]
multi = """
[not.a.table]
key = "value" \\""" still
""""
after_multi = 1
literal = \'\'\'
[still.not] = 1
\'\'\'\'
inline = { p = { q = [ { r = 1 } ] }, s.t = """
x""", u = true }
[table]
x = 1
[table."sub.table"]
y = "\\"]\\\\"
[[array]]
n = 1
[array.inner]
m = 1
[[array.more]]
[[array.more]]
z = { }
[[array]]
n = 2
[ spaced . "out" ] # comment
"\\u00e9" = -inf
'''


def test_every_key_of_a_tricky_document_has_its_line() -> None:
    lines = key_lines(TRICKY)
    texts = TRICKY.split("\n")

    assert set(lines) == paths_of(tomli.loads(TRICKY))
    expected = {
        ("title",): 'title = "x',
        ("quoted.key",): '"quoted.key"',
        ("a", "b", "c.d", "e", 1, 1): "a.b.",
        ("a", "b", "c.d", "e", 2, "l"): "  { k = 1",
        ("after_multi",): "after_multi",
        ("inline", "u"): 'x""", u',
        ("table", "sub.table", "y"): "y = ",
        ("array", 0, "more", 1, "z"): "z = ",
        ("array", 1): "[[array]]",
        ("array", 1, "n"): "n = 2",
        ("spaced", "out", "é"): '"\\u00e9"',
    }
    for path, start in expected.items():
        assert texts[lines[path] - 1].startswith(start), path
    assert lines["array", 1] > lines["array", 0]


def test_windows_line_ends_count_once() -> None:
    assert key_lines("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


BARE = st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True)
KEYS = BARE | st.text(st.characters(codec="utf-8", exclude_characters="\x7f", min_codepoint=32), max_size=6)
STRINGS = st.text(st.characters(codec="utf-8", exclude_characters="\x7f", min_codepoint=32), max_size=12)
VALUES = st.recursive(
    STRINGS | st.integers(-9, 9) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: object, draw: st.DrawFn) -> str:
    """A value in one of the ways in which TOML can write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        ways = [_quoted(value), f'"""\n{_quoted(value)[1:-1]}"""']
        if "'" not in value:
            ways += [f"'{value}'", f"'''{value}'''"]
        return draw(st.sampled_from(ways))
    if isinstance(value, list):
        gap = draw(st.sampled_from(["", " ", "\n  ", " # ] }\n"]))
        return "[" + "".join(f"{gap}{_value(item, draw)}{gap}," for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)} = {_value(item, draw)}" for key, item in value.items()) + "}"
    return str(value)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[TreePath, int]]:
    """A valid document and the line of every key that is written in a table of its own."""
    lines: list[str] = []
    expected: dict[TreePath, int] = {}

    def pairs(table: TreePath, prefix: str) -> None:
        for key, value in draw(st.dictionaries(KEYS, VALUES, max_size=3)).items():
            lines.extend(draw(st.sampled_from([[], [""], ["# c = 1"]])))
            expected[*table, prefix + key] = len(lines) + 1
            lines.extend(f"  {_quoted(prefix + key)} = {_value(value, draw)}".split("\n"))

    pairs((), "root ")
    for name in draw(st.lists(KEYS, max_size=3, unique=True)):
        lines.append(f"[ {_quoted(name)} ] # x")
        expected[name,] = len(lines)
        pairs((name,), "")
    return "\n".join(lines), expected


@given(documents())
def test_lines_and_paths_agree_with_the_parser(document: tuple[str, dict[TreePath, int]]) -> None:
    text, expected = document

    lines = key_lines(text)

    assert set(lines) == paths_of(tomli.loads(text))
    assert {path: lines[path] for path in expected} == expected
