"""What it costs to store an item, in each sink. See __main__."""
