"""Loops that one process at a time runs for all: schedules, ends of jobs, alerts, scaling."""
