"""Questions that the papers left open: an experiment each, with hypotheses made before its runs."""
