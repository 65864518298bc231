"""Figures and text of the AMP paper."""
