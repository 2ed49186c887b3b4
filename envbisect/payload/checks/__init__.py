"""The built-in checks, one family a file."""
