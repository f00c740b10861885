"""Steps that bring a database up to date, in the order of their numbers."""
