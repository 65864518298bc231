"""`linkpool study`: run, look after and read the studies of a user."""
