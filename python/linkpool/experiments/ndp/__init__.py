"""The experiments of the NDP paper (Handley et al., SIGCOMM 2017)."""
