"""The report: one self-contained page about results, `linkpool report`."""
