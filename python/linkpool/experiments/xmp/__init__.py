"""Figures of the XMP paper."""
