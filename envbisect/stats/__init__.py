"""Statistics of burn-ins: rates, percentiles and whether two sets of launches differ. Standard library only."""

from envbisect.stats.percentiles import Percentile, launches_needed, percentile, samples_needed
from envbisect.stats.permutation import Separation, Worse, holm, separates, separation
from envbisect.stats.rates import binomial_interval, difference_probability, upper_bound_difference

__all__ = [
    "Percentile",
    "Separation",
    "Worse",
    "binomial_interval",
    "difference_probability",
    "holm",
    "launches_needed",
    "percentile",
    "samples_needed",
    "separates",
    "separation",
    "upper_bound_difference",
]
