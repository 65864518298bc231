"""Figures of results: `linkpool plot`."""
