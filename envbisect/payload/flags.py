"""Typed torch flags (``[torch]``): set each one, then ask torch what it has.

A flag that this torch does not have, or that does not read back as asked, is a :class:`FlagFault`: a probe with such
a flag did not run in the configuration it was meant for.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, NamedTuple


class FlagFault(Exception):  # noqa: N818 - an outcome for the result, not an error that escapes
    """Why a flag could not be set, in one line."""


class Flag(NamedTuple):
    """How one flag is set and read. Both also get the whole table, for flags that are set together."""

    write: Callable[[Any, Any, Dict[str, Any]], None]
    read: Callable[[Any, Dict[str, Any]], Any]


class Setting(NamedTuple):
    """One flag after it was set: what was asked, what torch answers, and the fault or an empty string."""

    name: str
    asked: Any
    read_back: Any
    fault: str


def apply_flags(torch: Any, table: Dict[str, Any]) -> List[Setting]:
    """Set every flag of ``table``, in an order that does not depend on it, then read all of them back."""
    unknown = [name for name in table if name not in FLAGS]
    settings = [Setting(name, table[name], None, "torch.%s: no such flag" % name) for name in unknown]
    failed: Dict[str, str] = {}
    for name in FLAGS:
        if name in table:
            fault = _write(torch, name, table)
            if fault:
                failed[name] = fault
    for name in FLAGS:
        if name in table:
            settings.append(_read_back(torch, name, table, failed.get(name, "")))
    return settings


def _write(torch: Any, name: str, table: Dict[str, Any]) -> str:
    try:
        FLAGS[name].write(torch, table[name], table)
    except FlagFault as fault:
        return "torch.%s: %s" % (name, fault)
    except Exception as error:  # torch raises RuntimeError, TypeError, ValueError, AssertionError here
        return "torch.%s = %r was refused: %s: %s" % (name, table[name], type(error).__name__, _first_line(error))
    return ""


def _read_back(torch: Any, name: str, table: Dict[str, Any], fault: str) -> Setting:
    asked = table[name]
    try:
        read_back = FLAGS[name].read(torch, table)
    except Exception as error:  # as above
        return Setting(name, asked, None, fault or "torch.%s cannot be read back: %s" % (name, _first_line(error)))
    if not fault and read_back != asked:
        fault = "torch.%s: asked for %r, torch %s has %r" % (name, asked, torch.__version__, read_back)
    return Setting(name, asked, read_back, fault)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]


def _function(torch: Any, *names: str) -> Callable[..., Any]:
    """The first of ``names`` that this torch has."""
    for name in names:
        owner = torch
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is not None:
            function: Callable[..., Any] = owner
            return function
    raise FlagFault("torch %s has no %s" % (torch.__version__, names[0]))


def _set_deterministic(torch: Any, value: Any, table: Dict[str, Any]) -> None:
    function = _function(torch, "use_deterministic_algorithms", "set_deterministic")
    if "deterministic_warn_only" in table:
        _set_warn_only(torch, table["deterministic_warn_only"], table)
    else:
        function(value)


def _set_warn_only(torch: Any, value: Any, table: Dict[str, Any]) -> None:
    function = _function(torch, "use_deterministic_algorithms", "set_deterministic")
    try:
        inspect.signature(function).bind(True, warn_only=True)
    except TypeError:
        raise FlagFault("torch %s has no warn_only" % torch.__version__) from None
    enabled = table["deterministic"] if "deterministic" in table else _get_deterministic(torch, table)
    function(enabled, warn_only=value)


def _get_deterministic(torch: Any, _table: Dict[str, Any]) -> Any:
    return _function(torch, "are_deterministic_algorithms_enabled", "is_deterministic")()


def _attribute(path: str) -> Flag:
    """A flag that is an attribute below torch, such as ``backends.cudnn.benchmark``."""
    parents, _, name = path.rpartition(".")

    def owner(torch: Any) -> Any:
        found = torch
        for part in parents.split("."):
            found = getattr(found, part, None)
        if not hasattr(found, name):  # setting would succeed on a module and mean nothing
            raise FlagFault("torch %s has no torch.%s" % (torch.__version__, path))
        return found

    def write(torch: Any, value: Any, _table: Dict[str, Any]) -> None:
        setattr(owner(torch), name, value)

    def read(torch: Any, _table: Dict[str, Any]) -> Any:
        return getattr(owner(torch), name)

    return Flag(write, read)


def _tf32_flags(table: Dict[str, Any]) -> List[Flag]:
    """``allow_tf32`` means matmul and cuDNN; beside ``float32_matmul_precision``, matmul's own word, cuDNN alone."""
    return [_CUDNN_TF32] if "float32_matmul_precision" in table else [_CUDNN_TF32, _MATMUL_TF32]


def _set_tf32(torch: Any, value: Any, table: Dict[str, Any]) -> None:
    for flag in _tf32_flags(table):
        flag.write(torch, value, table)


def _get_tf32(torch: Any, table: Dict[str, Any]) -> Any:
    values = {flag.read(torch, table) for flag in _tf32_flags(table)}
    return values.pop() if len(values) == 1 else "matmul and cudnn differ"


def _set_flush_denormal(torch: Any, value: Any, _table: Dict[str, Any]) -> None:
    if not _function(torch, "set_flush_denormal")(value):
        raise FlagFault("this processor cannot")


def _get_flush_denormal(torch: Any, _table: Dict[str, Any]) -> bool:
    # no getter exists: the smallest denormal survives a multiplication, or it does not
    return float((torch.tensor([5e-324], dtype=torch.float64) * 1).item()) == 0.0


def _set_mkldnn(torch: Any, value: Any, _table: Dict[str, Any]) -> None:
    if value and not torch.backends.mkldnn.is_available():
        raise FlagFault("torch %s is built without oneDNN" % torch.__version__)
    _function(torch, "_C._set_mkldnn_enabled")(value)


def _set_compile_backend(torch: Any, value: Any, _table: Dict[str, Any]) -> None:
    defaults = getattr(_function(torch, "compile"), "__kwdefaults__", None)
    if not defaults or "backend" not in defaults:
        raise FlagFault("torch %s has no default backend for torch.compile" % torch.__version__)
    defaults["backend"] = value


def _calls(setter: str, getter: str) -> Flag:
    """A flag with a function of torch to set it and one to read it."""
    return Flag(
        lambda torch, value, _table: _function(torch, setter)(value), lambda torch, _table: _function(torch, getter)()
    )


def _get_compile_backend(torch: Any, _table: Dict[str, Any]) -> Any:
    return (getattr(_function(torch, "compile"), "__kwdefaults__", None) or {}).get("backend")


_MATMUL_TF32 = _attribute("backends.cuda.matmul.allow_tf32")
_CUDNN_TF32 = _attribute("backends.cudnn.allow_tf32")

FLAGS: Dict[str, Flag] = {
    "deterministic": Flag(_set_deterministic, _get_deterministic),
    "deterministic_warn_only": Flag(
        _set_warn_only, lambda torch, _table: _function(torch, "is_deterministic_algorithms_warn_only_enabled")()
    ),
    "threads": _calls("set_num_threads", "get_num_threads"),
    "interop_threads": _calls("set_num_interop_threads", "get_num_interop_threads"),
    "allow_tf32": Flag(_set_tf32, _get_tf32),
    "float32_matmul_precision": _calls("set_float32_matmul_precision", "get_float32_matmul_precision"),
    "cudnn_benchmark": _attribute("backends.cudnn.benchmark"),
    "cudnn_deterministic": _attribute("backends.cudnn.deterministic"),
    "flush_denormal": Flag(_set_flush_denormal, _get_flush_denormal),
    "mkldnn": Flag(_set_mkldnn, lambda torch, _table: _function(torch, "_C._get_mkldnn_enabled")()),
    "compile_backend": Flag(_set_compile_backend, _get_compile_backend),
}
"""By name in ``[torch]``, in the order in which they are set."""
