"""What the page shows, as plain values: each part in a file of its own."""
