"""The benchmark of the search: rows, what plays on them, and what is made of the figures."""
