"""Ask for one amount between 0.10 and 2.00. The seed is the system's, as in many a test suite: failures come and go."""

import sys

import faker

LOWEST, HIGHEST = 0.1, 2.0
GOOD, BAD = 0, 1

amount = faker.Faker().pyfloat(min_value=LOWEST, max_value=HIGHEST, right_digits=2)
inside = LOWEST <= amount <= HIGHEST
print("inside" if inside else "outside", "the range")
sys.exit(GOOD if inside else BAD)
