"""Benchmarks: standard tasks, their cost, and comparison with other simulators."""
