"""One file per command; ``envbisect.cli.app`` registers them."""
