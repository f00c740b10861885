"""A page → fields: structured data, recipes, and cleaning that refuses rather than guesses.

Cleaners are pure functions from a text (and what its source declares, a `Locale`) to `Cleaned`,
which keeps the raw text beside the value, or `Refused`, which says why there is none.
"""
