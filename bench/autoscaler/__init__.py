"""A day of the scaling policy: recorded and made load, worker by worker, with a plot.

The world is a model (model.py); the policy is the real one. Two others are beside it: as many
workers as there may be, all day, and one that looks at the length of the queue alone.
"""
