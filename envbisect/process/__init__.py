"""Subprocesses that die as a whole: own process group, deadline, no orphans."""
