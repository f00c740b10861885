"""What a page tells machines: JSON-LD, microdata, OpenGraph, JSON in scripts.

JSON-LD and microdata become the same plain dictionaries (`@type` and properties), from which
`products` and `quotes` read normalised fields. All of it is bounded, and broken parts are told in
`problems` instead of spoiling the rest.
"""

from skitter.extract.structured.embedded import Embedded
from skitter.extract.structured.products import all_products, main_product
from skitter.extract.structured.quotes import all_quotes, main_quote
from skitter.extract.structured.reading import Structured, read_structured

__all__ = [
    "Embedded",
    "Structured",
    "all_products",
    "all_quotes",
    "main_product",
    "main_quote",
    "read_structured",
]
