"""What a manifest says, and that everything wrong with it is said at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from envbisect.errors import ExitCode, Fault, ManifestError
from envbisect.keys import ValueType
from envbisect.manifest import CHECK_FAMILIES, Burnin, Code, Manifest, PackageHome, SignaturePolicy, Worse, load, values

Read = Callable[[str], Manifest]
Faults = Callable[[str], Sequence[Fault]]


def test_components_are_flat_and_canonical(read: Read) -> None:
    manifest = read(
        """
        [host]
        gpu = "NVIDIA A100"
        "gpu.clocks" = 1410
        [host.sysctl]
        "kernel.perf_event_paranoid" = 2
        [host.modules.nvidia]
        NVreg_EnableGpuFirmware = 0
        [python.packages]
        Typing_Extensions = "4.12.2"
        numpy = "==2.1.0"
        torch = ">=2.1"
        [env]
        EMPTY = ""
        [launch]
        per_rank_env = { OMP_NUM_THREADS = "8" }
        """
    )

    assert manifest.components() == {
        "env.EMPTY": "",
        "host.gpu": "NVIDIA A100",
        "host.gpu.clocks": 1410,
        "host.modules.nvidia.NVreg_EnableGpuFirmware": 0,
        "host.sysctl.kernel.perf_event_paranoid": 2,
        "launch.per_rank_env.OMP_NUM_THREADS": "8",
        "python.packages.numpy": "2.1.0",
        "python.packages.torch": ">=2.1",
        "python.packages.typing-extensions": "4.12.2",
    }
    assert manifest.launch.per_rank_env == {"OMP_NUM_THREADS": "8"}
    assert manifest.unknown == frozenset()
    assert not manifest.is_unknown("env.OTHER")


def test_a_name_with_dots_needs_no_quotes_where_names_have_dots(read: Read) -> None:
    quoted = read('[host.sysctl]\n"kernel.yama.ptrace_scope" = 1\n[axes]\n"torch.threads" = [1, 2]\n')
    bare = read("[host.sysctl]\nkernel.yama.ptrace_scope = 1\n[axes]\ntorch.threads = [1, 2]\n")

    assert quoted.components() == bare.components() == {"host.sysctl.kernel.yama.ptrace_scope": 1}
    assert quoted.axes == bare.axes == {"torch.threads": (1, 2)}


def test_settings_of_resolution_are_no_components(read: Read) -> None:
    manifest = read(
        """
        [python]
        version = "3.11.7"
        index = ["https://example.org/simple"]
        exclude_newer = "2026-11-01T02:00:00+02:00"
        overrides = ["nvidia-cudnn-cu12 == 9.15.1.9"]
        source = "image"
        complete = true
        """
    )

    assert manifest.components() == {"python.version": "3.11.7"}
    assert manifest.python.version == "3.11.7"
    assert manifest.python.index == ("https://example.org/simple",)
    assert manifest.python.exclude_newer == "2026-11-01T00:00:00Z"
    assert manifest.python.overrides == ("nvidia-cudnn-cu12==9.15.1.9",)
    assert manifest.python.source is PackageHome.IMAGE
    assert manifest.python.complete


def test_name_defaults_to_the_file(read: Read) -> None:
    assert read("").name == "good"
    assert read('name = "prod"\n').name == "prod"


def test_burnin_has_the_documented_defaults(read: Read) -> None:
    burnin = read("").burnin

    assert burnin == Burnin()
    assert burnin.checks == CHECK_FAMILIES
    assert burnin.command is None
    assert (burnin.rounds, burnin.timeout_s, burnin.stall_s) == (3, 120.0, None)
    assert burnin.signature is SignaturePolicy.LEARNED


def test_a_command_alone_runs_no_built_in_check(read: Read) -> None:
    burnin = read('[burnin]\ncommand = ["python", "t.py"]\ntimeout_s = 20\n').burnin

    assert burnin.command == ("python", "t.py")
    assert burnin.checks == ()
    assert burnin.timeout_s == 20


def test_metrics_have_a_direction(read: Read) -> None:
    burnin = read(
        """
        [burnin.metrics.p99_ms]
        max = 20.0
        [burnin.metrics.drift]
        worse = "different"
        [burnin.metrics.tokens_per_s]
        min_effect = 2
        """
    ).burnin

    assert burnin.metrics["p99_ms"].max == 20.0
    assert burnin.direction("p99_ms") is Worse.HIGHER
    assert burnin.direction("drift") is Worse.DIFFERENT
    assert burnin.direction("tokens_per_s") is Worse.LOWER
    assert burnin.direction("val_accuracy") is Worse.LOWER


def test_all_faults_come_at_once_with_line_key_expectation_and_nearest(faults: Faults) -> None:
    found = faults(
        '[tourch]\nthreads = 1\n[torch]\nthreads = "two"\nnum_workers = 1\n[burnin]\ntiemout_s = 3\nrounds = 0\n'
    )

    assert [(fault.line, fault.key, fault.nearest) for fault in found] == [
        (2, "tourch", "torch"),
        (5, "torch.threads", ""),
        (6, "torch.num_workers", "dataloader.num_workers"),
        (8, "burnin.tiemout_s", "burnin.timeout_s"),
        (9, "burnin.rounds", ""),
    ]
    assert found[1].expected == "an integer, at least 1"
    assert all(fault.file.endswith("good.toml") and fault.message for fault in found)


def test_a_fault_is_a_usage_error_that_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text("schema = 1\n[torch]\nthreads = 0\n")

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.message.startswith(f"{path}:3: torch.threads is 0")
    assert raised.value.hint == "expected an integer, at least 1"


WRONG = [
    ('[torch]\nthreads = "two"', "torch.threads", "an integer"),
    ("[torch]\nthreads = true", "torch.threads", "an integer"),
    ("[torch]\nthreads = 2.0", "torch.threads", "an integer"),
    ("[torch]\nthreads = 0", "torch.threads", "at least 1"),
    ("[torch]\ndeterministic = 1", "torch.deterministic", "true or false"),
    ('[torch]\nfloat32_matmul_precision = "hihg"', "torch.float32_matmul_precision", '"highest"'),
    ("torch = 1", "torch", "a table: [torch]"),
    ("[host]\ncmdline = 1", "host.cmdline", "a table: [host.cmdline]"),
    ("[host]\ndriver = 535.161", "host.driver", 'in quotes: "535.161"'),
    ("[host]\ngpu_count = -1", "host.gpu_count", "at least 0"),
    ("[host.gpu]\npower_limit_w = inf", "host.gpu.power_limit_w", "a number"),
    ('[host]\ncgroup = "v3"', "host.cgroup", '"v2"'),
    ('[host]\nos = ""', "host.os", "not empty"),
    ("[host.sysctl]\n'a.b' = 2026-01-01", "host.sysctl.a.b", "a string, a number"),
    ("[dataloader]\nnum_workers = -1", "dataloader.num_workers", "at least 0"),
    ('[dataloader]\nstart_method = "frok"', "dataloader.start_method", '"fork"'),
    ("[env]\nNCCL_NVLS_ENABLE = 1", "env.NCCL_NVLS_ENABLE", 'NCCL_NVLS_ENABLE = "1"'),
    ("[env]\nA = true", "env.A", 'A = "1"'),
    ("[env.NCCL]\nALGO = 'Ring'", "env.NCCL", "a string"),
    ("[env]\n'A B' = 'x'", "env.A B", "without spaces"),
    ("[env]\n'A=B' = 'x'", "env.A=B", "without spaces and ="),
    ("[env]\nENVBISECT_PROBE = '1'", "env.ENVBISECT_PROBE", "another name"),
    ('[env]\nA = "\\u0000"', "env.A", "without NUL"),
    ("[launch]\nnproc_per_node = 0", "launch.nproc_per_node", "at least 1"),
    ("[launch]\nper_rank_env = { A = 1 }", "launch.per_rank_env.A", 'A = "1"'),
    ("[python]\nversion = 3.11", "python.version", '"3.11"'),
    ('[python]\nversion = "3.7"', "python.version", '"3.8" or later'),
    ('[python]\nversion = "three"', "python.version", '"3.11.7"'),
    ('[python]\nindex = "https://pypi.org/simple"', "python.index", "an array of strings"),
    ('[python]\nindex = ["pypi"]', "python.index", "https://"),
    ('[python]\nexclude_newer = "2026-11-01"', "python.exclude_newer", "with its time zone"),
    ('[python]\nexclude_newer = "last week"', "python.exclude_newer", "2026-11-01T00:00:00Z"),
    ('[python]\noverrides = ["=="]', "python.overrides", "nvidia-cudnn-cu12==9.15.1.9"),
    ('[python]\nsource = "vnev"', "python.source", '"venv"'),
    ('[python.packages]\nnumpy = "two"', "python.packages.numpy", "a version"),
    ('[python.packages]\nnumpy = ""', "python.packages.numpy", "a version"),
    ('[python.packages]\nnumpy = "*"', "python.packages.numpy", "a version"),
    ("[python.packages]\nnumpy = 2.1", "python.packages.numpy", "a version"),
    ('[python.packages]\n"numpy[x]" = "2.1"', "python.packages.numpy[x]", "plain name"),
    ('[python.packages]\n"-x" = "2.1"', "python.packages.-x", "letters"),
    ('[python.packages]\nzope.interface = "5.0"', "python.packages.zope", '"zope.interface"'),
    ('[python.packages]\na = { git = "https://x/y" }', "python.packages.a", 'rev = "…"'),
    ('[python.packages]\na = { git = "https://x/y", rev = "-x" }', "python.packages.a", 'rev = "…"'),
    (
        '[python.packages]\na = { git = "https://x/y", rev = "a", patches = ["no.patch"] }',
        "python.packages.a",
        "a path",
    ),
    ('[python.packages]\na = { git = "https://x/y", rve = "a" }', "python.packages.a", "git, rev and patches"),
    ('[python.packages]\nnumpy = "1.0"\nNumPy = "1.1"', "python.packages.numpy", "one value"),
    ('[python]\ncomplete = true\n[python.packages]\nnumpy = ">=1"', "python.packages.numpy", "an exact version"),
    ('[python.packages]\na = { git = "../x", rev = "a" }', "python.packages.a", "a path inside"),
    ('[python.packages]\na = { git = "https://x/y", rev = "a b" }', "python.packages.a", "a commit"),
    (
        '[python.packages]\na = { git = "https://x/y", rev = "a", patches = "p" }',
        "python.packages.a",
        "an array of paths",
    ),
    ('[cuda]\nbuild = "cu126"', "cuda.build", "numbers and dots"),
    ('[image]\nshm_size = "big"', "image.shm_size", "8g"),
    ("[image.run]\ncap_add = [1]", "image.run.cap_add", "strings that are not empty"),
    ("[host.cmdline]\nx = nan", "host.cmdline.x", "a finite number"),
    ('[host.cmdline]\nx = "\\u0000"', "host.cmdline.x", "without NUL"),
    ('[image.run]\nmounts = ["data"]', "image.run.mounts", "source:/target"),
    ('[image.run]\nmounts = ["../data:/data"]', "image.run.mounts", "a path inside"),
    ('[inputs]\n"a.bin" = "md5:00"', "inputs.a.bin", "64 hexadecimal digits"),
    ('[code]\nrepo = ".."', "code.repo", "a path inside"),
    ('[code]\nrepo = "nowhere"', "code.repo", "a folder in Git"),
    ('[code]\nrev = "abc"', "code.rev", 'repo = "."'),
    ('[code]\nrepo = "."', "code.repo", "a folder in Git"),
    ('[code]\nrepo = "https://x/y"\nrev = "--upload-pack=x"', "code.rev", "a commit"),
    ('[code]\nrepo = "https://x/y"\ndirty_patch = "/nowhere.patch"', "code.dirty_patch", "a patch that exists"),
    ("burnin = 1", "burnin", "a table"),
    ("[burnin]\nrounds = 0", "burnin.rounds", "at least 1"),
    ("[burnin]\nrounds = true", "burnin.rounds", "an integer"),
    ("[burnin]\nrounds = 1.5", "burnin.rounds", "an integer"),
    ("[burnin]\ntimeout_s = -1", "burnin.timeout_s", "more than 0"),
    ("[burnin]\ntimeout_s = inf", "burnin.timeout_s", "a finite number"),
    ('[burnin]\ntimeout_s = "120"', "burnin.timeout_s", "a number"),
    ("[burnin]\ntimeout_s = true", "burnin.timeout_s", "a number"),
    ("[burnin]\nstall_s = 0", "burnin.stall_s", "more than 0"),
    ("[burnin]\ncommand = []", "burnin.command", '["python", "test.py"]'),
    ('[burnin]\ncommand = [" "]', "burnin.command", '["python", "test.py"]'),
    ('[burnin]\ncommand = "python t.py"', "burnin.command", "an array"),
    ('[burnin]\ncommand = ["python", 1]', "burnin.command", "a string"),
    ('[burnin]\ncommand = ["a\\u0000"]', "burnin.command", "without NUL"),
    ('[burnin]\nchecks = ["repaet"]', "burnin.checks", "one of ladder, repeat, latency"),
    ('[burnin]\nchecks = ["repeat."]', "burnin.checks", "one of ladder, repeat, latency"),
    ("[burnin]\nchecks = []", "burnin", "leave checks out"),
    ('[burnin]\nsignature = "some"', "burnin.signature", "'learned' or 'any'"),
    ('[burnin.classify]\nbad_if = "("', "burnin.classify.bad_if", "re syntax"),
    ('[burnin.classify]\nbad_if = ""', "burnin.classify.bad_if", "leave it out"),
    ("[burnin]\nclassify = 3", "burnin.classify", "a table"),
    ('[burnin.metrics.p99_ms]\nworse = "more"', "burnin.metrics.p99_ms.worse", "'higher'"),
    ('[burnin.metrics.x]\nworse = "lower"\nmax = 1', "burnin.metrics.x", "not both"),
    ("[burnin.metrics.x]\nmin_effect = -1", "burnin.metrics.x.min_effect", "at least 0"),
    ("[burnin.metrics.'a b']\nmax = 1", "burnin.metrics", "letters"),
    ('[burnin.metrics.p99_ms]\nwrose = "higher"', "burnin.metrics.p99_ms.wrose", "one of worse, max"),
    ("axes = []", "axes", "a table"),
    ('[axes]\n"torch.threads" = [1, 2]\ntorch.threads = [1, 2]', "axes.torch.threads", "one list"),
    ('[axes]\n"dataloader.num_worker" = [0, 1]', "axes.dataloader.num_worker", "num_workers"),
    ('[axes]\n"dataloader.num_workers" = 3', "axes.dataloader.num_workers", "an array"),
    ('[axes]\n"dataloader.num_workers" = [0]', "axes.dataloader.num_workers", "two at least"),
    ('[axes]\n"dataloader.num_workers" = [0, 1, 0]', "axes.dataloader.num_workers", "each step once"),
    ('[axes]\n"dataloader.num_workers" = [0, "1"]', "axes.dataloader.num_workers", "an integer"),
    ('[axes]\n"python.packages.numpy" = ["1.0", ">=2"]', "axes.python.packages.numpy", "exact versions"),
    ('[axes]\n"python.index" = [["a"], ["b"]]', "axes.python.index", "dataloader.num_workers"),
    ('[axes]\n"cuda.cudnn" = ["9.1", "9.2"]', "axes.cuda.cudnn", "dataloader.num_workers"),
    ("name = 3", "name", "one line of text"),
    ("extends = 3", "extends", "base.toml"),
    ('extends = "/etc/base.toml"', "extends", "relative to this manifest"),
]


@pytest.mark.parametrize(("body", "key", "expected"), WRONG, ids=[body.replace("\n", " ")[:60] for body, _, _ in WRONG])
def test_wrong_value_is_one_fault_in_its_line(faults: Faults, body: str, key: str, expected: str) -> None:
    found = faults(body)

    assert [fault.key for fault in found] == [key]
    assert expected in found[0].expected
    assert found[0].line >= 2


@pytest.mark.parametrize("head", ["", "schema = 2\n", "schema = true\n", 'schema = "1"\n', "schema = 1.5\n"])
def test_the_schema_number_is_required(tmp_path: Path, head: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(head + "[torch]\nthreads = 1\n")

    with pytest.raises(ManifestError) as raised:
        load(path)

    assert [fault.key for fault in raised.value.faults] == ["schema"]


def test_burnin_of_another_file_settles_the_test(tmp_path: Path, read: Read) -> None:
    other = tmp_path / "test.toml"
    other.write_text('schema = 1\n[burnin]\ncommand = ["true"]\n')
    path = tmp_path / "m.toml"
    path.write_text('schema = 1\n[burnin]\nchecks = ["repeat"]\n')

    assert load(path, burnin_file=other).burnin.command == ("true",)


def test_faults_of_the_burnin_file_come_with_those_of_the_manifest(tmp_path: Path) -> None:
    other = tmp_path / "test.toml"
    other.write_text("schema = 1\n[burnin]\nrounds = 0\n")
    path = tmp_path / "m.toml"
    path.write_text("schema = 1\n[torch]\nthreads = 0\n")

    with pytest.raises(ManifestError) as raised:
        load(path, burnin_file=other)

    assert [(Path(fault.file).name, fault.key) for fault in raised.value.faults] == [
        ("m.toml", "torch.threads"),
        ("test.toml", "burnin.rounds"),
    ]


def test_versions_are_kept_in_one_spelling(read: Read) -> None:
    pins = read('[python.packages]\na = "v2.1RC1"\nb = "2023.05.07"\nc = "<3, >=2.1"\nd = ">=2.1,<3"\n').components()

    assert pins["python.packages.a"] == "2.1rc1"
    assert pins["python.packages.b"] == "2023.5.7"
    assert pins["python.packages.c"] == pins["python.packages.d"]


def test_a_bare_repository_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / "x.git" / "objects").mkdir(parents=True)
    (tmp_path / "x.git" / "HEAD").write_text("ref: refs/heads/main\n")
    path = tmp_path / "m.toml"
    path.write_text('schema = 1\n[code]\nrepo = "x.git"\n')

    assert load(path).code == Code(str(tmp_path / "x.git"))


def test_every_type_of_value_has_a_reader() -> None:
    assert set(values._READERS) == set(ValueType) - {ValueType.PACKAGE}


def test_two_folders_of_one_repository_name_the_same_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "fix.patch").write_text("")
    good, bad = tmp_path / "good.toml", tmp_path / "a" / "bad.toml"
    good.write_text('schema = 1\n[code]\nrepo = "."\nrev = "v1"\ndirty_patch = "fix.patch"\n')
    bad.write_text('schema = 1\n[code]\nrepo = "."\n')

    one, other = load(good), load(bad)

    assert one.code == Code(str(tmp_path), "v1", tmp_path / "fix.patch")
    assert other.code == Code(str(tmp_path))


def test_the_repository_may_be_a_url(read: Read) -> None:
    assert read('[code]\nrepo = "git@example.org:me/x.git"\nrev = "main"\n').code == Code(
        "git@example.org:me/x.git", "main"
    )


def test_the_test_survives_a_round_trip_through_json(read: Read) -> None:
    burnin = read(
        '[burnin]\ncommand = ["a"]\nsetup = ["b"]\nsignature = "any"\nstall_s = 1\nclassify.bad_if = "x"\n'
        'metrics.m = { worse = "different", aggregate = "rank0" }\n'
    ).burnin

    assert Burnin.model_validate(json.loads(burnin.model_dump_json())) == burnin


def test_a_burnin_file_without_its_table_is_refused(write: Callable[..., Path]) -> None:
    with pytest.raises(ManifestError, match=r"plain\.toml: has no \[burnin\] table") as raised:
        load(write(), burnin_file=write("", "plain.toml"))

    assert [fault.key for fault in raised.value.faults] == ["burnin"]


def test_a_burnin_file_may_have_its_table_from_what_it_extends(write: Callable[..., Path]) -> None:
    write('[burnin]\ncommand = ["true"]\n', "base.toml")

    assert load(write(), burnin_file=write('extends = "base.toml"\n', "test.toml")).burnin.command == ("true",)
