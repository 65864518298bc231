"""`python -m linkpool` is the `linkpool` command."""

from linkpool.entry import main

main()
