"""Workloads that measure weft beside something else in one run."""
