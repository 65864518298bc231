"""The experiments of the MPTCP talk."""
