"""Tiny package worlds: resolved by brute force in memory, or published as a file:// index of real wheels for uv."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from envbisect.manifest import Manifest, load
from envbisect.manifest.stack import Closure, Pin
from envbisect.space.index import Answer, Needs, Question, RequirementsConflict, Rung, Rungs, SourceBuildFailed

Releases = Mapping[str, Mapping[str, Sequence[str]]]
"""name → version → Requires-Dist lines."""


@dataclass(frozen=True)
class _Rules:
    limits: list[Requirement]
    overrides: dict[str, Requirement]
    python: str


@dataclass
class World:
    """A ``PackageSource`` in memory. ``broken`` releases ("a==1") fail to build; ``requires_python`` is by release."""

    releases: Releases
    broken: frozenset[str] = frozenset()
    requires_python: Mapping[str, str] = field(default_factory=dict)
    pythons: tuple[str, ...] = ("3.11", "3.12", "3.13")
    unknown: frozenset[str] = frozenset()  # releases whose metadata cannot be had without a build
    questions: list[Question] = field(default_factory=list)

    def find_python(self, version: str) -> Path | None:
        return Path("/usr/bin/python") if version in self.pythons else None

    def ladder(self, name: str, good: str, bad: str, *, python: str, exclude_newer: str) -> Rungs:
        low, high = sorted((Version(good), Version(bad)))
        versions = sorted((v for v in self.releases[name] if low <= Version(v) <= high), key=Version)
        steps = tuple(Rung(version, f"2024-01-{place + 1:02}T00:00:00Z") for place, version in enumerate(versions))
        return Rungs(steps if Version(good) < Version(bad) else steps[::-1])

    def needs(self, releases: Sequence[tuple[str, str]], *, python: str) -> Mapping[tuple[str, str], Needs]:
        return {
            (name, version): Needs(
                tuple(self.releases[name][version]), self.requires_python.get(f"{name}=={version}", "")
            )
            for name, version in releases
            if version in self.releases.get(name, {}) and f"{name}=={version}" not in self.unknown
        }

    def resolve(self, question: Question) -> Answer:
        self.questions.append(question)
        solution = next(self.solutions(question), None)
        if solution is None:
            raise RequirementsConflict("no solution found")
        for name, version in solution.items():
            if f"{name}=={version}" in self.broken:
                raise SourceBuildFailed(f"{name}=={version} does not build", f"{name}=={version}")
        parents: dict[str, list[str]] = {name: [] for name in solution}
        for name, version in solution.items():
            for requirement in self.active(name, version, question.python):
                parents[requirement.name].append(name)
        closure = Closure.of(
            question.python, (Pin(name, version) for name, version in solution.items()), question.exclude_newer
        )
        return Answer(closure, {name: tuple(sorted(found)) for name, found in parents.items()})

    def solutions(self, question: Question) -> Iterator[dict[str, str]]:
        """Every complete assignment that satisfies a question, by depth-first search, newest versions first."""
        instead = {need.name: need for need in map(Requirement, question.overrides)}
        wanted = [instead.get(need.name, need) for need in map(Requirement, question.requirements)]
        limits = [Requirement(text) for text in question.constraints]
        yield from self._extend({}, wanted, _Rules(limits, instead, question.python))

    def _extend(self, chosen: dict[str, str], wanted: list[Requirement], rules: _Rules) -> Iterator[dict[str, str]]:
        if any(chosen.get(need.name) and not need.specifier.contains(chosen[need.name]) for need in wanted):
            return
        open_names = [need.name for need in wanted if need.name not in chosen]
        if not open_names:
            yield chosen
            return
        name = open_names[0]
        if any(need.url for need in wanted if need.name == name):  # from Git: no version, no requirements
            yield from self._extend({**chosen, name: ""}, wanted, rules)
            return
        specifiers = [need.specifier for need in (*wanted, *rules.limits) if need.name == name]
        for version in sorted(self.releases.get(name, {}), key=Version, reverse=True):
            if not all(specifier.contains(version, prereleases=True) for specifier in specifiers):
                continue
            python_rule = Requirement("x" + self.requires_python.get(f"{name}=={version}", "")).specifier
            if python_rule.contains(f"{rules.python}.99"):
                needs = [rules.overrides.get(need.name, need) for need in self.active(name, version, rules.python)]
                yield from self._extend({**chosen, name: version}, wanted + needs, rules)

    def active(self, name: str, version: str, python: str) -> Iterator[Requirement]:
        for line in self.releases[name][version] if version else ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"python_version": python, "extra": ""}):
                yield requirement


def publish(folder: Path, releases: Releases) -> str:
    """Write wheels and a PEP 503 index of them; returns its file:// URL."""
    simple = folder / "simple"
    for name, versions in releases.items():
        page = simple / name
        page.mkdir(parents=True)
        links = [wheel(page, name, version, needs).name for version, needs in versions.items()]
        lines = [f'<a href="{link}">{link}</a><br>' for link in links]
        (page / "index.html").write_text("<!DOCTYPE html><html><body>\n" + "\n".join(lines) + "\n</body></html>\n")
    return simple.as_uri()


def wheel(folder: Path, name: str, version: str, needs: Sequence[str] = ()) -> Path:
    """A pure wheel of one module that says its version."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {need}" for need in needs]
    files = {
        f"{name.replace('-', '_')}.py": f"version = {version!r}\n",
        f"{stem}.dist-info/METADATA": "\n".join(metadata) + "\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},{_digest(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{stem}.dist-info/RECORD"] = "\n".join([*record, f"{stem}.dist-info/RECORD,,"]) + "\n"
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for inside, text in files.items():
            archive.writestr(inside, text)
    return path


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def manifest(
    folder: Path, name: str, packages: Mapping[str, str] | None = None, extra: str = "", **python: str
) -> Manifest:
    """A real manifest, written and loaded; ``extra`` is TOML text for other tables, ``python`` TOML values."""
    lines = [
        "schema = 1",
        f'name = "{name}"',
        "[python]",
        f"version = {python.pop('version', chr(34) + '3.11' + chr(34))}",
    ]
    lines += [f"{key} = {value}" for key, value in python.items()]
    if packages is not None:
        lines += ["[python.packages]", *(f'"{package}" = "{version}"' for package, version in packages.items())]
    path = folder / f"{name}.toml"
    path.write_text("\n".join([*lines, extra]) + '\n[burnin]\ncommand = ["python", "test.py"]\n')
    return load(path)
