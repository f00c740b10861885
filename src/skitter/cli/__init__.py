"""The command line: thin shells over the same services that the API uses."""
