"""The registry that describes every key of a stack once. Pure data and the standard library only."""

from envbisect.keys.registry import all_specs, names_below, spec_for
from envbisect.keys.spec import KeySpec, Layer, Mover, Order, ValueType

__all__ = ["KeySpec", "Layer", "Mover", "Order", "ValueType", "all_specs", "names_below", "spec_for"]
