"""What it costs to store an item, in each sink, and to export a million. See __main__."""
