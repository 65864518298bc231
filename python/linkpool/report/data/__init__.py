"""The content of the page, as plain values: each section in a file of its own."""
