"""Benchmarks: standard tasks, what they cost, and how that compares."""
