"""Fields → accepted, or quarantined with a reason.

A `Validator` checks an item against a model of ours or against a JSON Schema. What it refuses is
kept with its raw values, so that it can be looked at and checked again after a fix.
"""

from skitter.validate.models import MODELS, Product, Quote, schema_of
from skitter.validate.validator import Accepted, Quarantined, Validator, load_schema

__all__ = [
    "MODELS",
    "Accepted",
    "Product",
    "Quarantined",
    "Quote",
    "Validator",
    "load_schema",
    "schema_of",
]
