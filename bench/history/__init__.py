"""What a long history of jobs costs those who look at it. See __main__."""
