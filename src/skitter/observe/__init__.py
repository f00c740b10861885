"""What others can watch: metrics."""
