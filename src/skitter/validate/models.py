"""What a product and a quote have to be like to be believed.

Required is what makes an item useless if it is missing. Ranges are wide: they catch what was read
wrongly (a rating of 45, a year as a price), not what is unusual. Other fields pass as they are.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

MOST_IMAGES = 1000

Url = Annotated[str, Field(pattern=r"^https?://[^\s/]+", max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=2000)]
Word = Annotated[str, Field(min_length=1, max_length=500)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Amount = Annotated[Decimal, Field(ge=0, lt=Decimal(10) ** 15)]
Figure = Annotated[Decimal, Field(gt=-(Decimal(10) ** 18), lt=Decimal(10) ** 18)]
Count = Annotated[int, Field(ge=0, lt=10**15)]
Availability = Literal["in_stock", "out_of_stock", "preorder", "backorder", "discontinued"]
_GONE = ("out_of_stock", "discontinued", "preorder", "backorder")


class ItemModel(BaseModel):
    """Fields that are not named pass as they are: recipes may take more."""

    model_config = ConfigDict(extra="allow", frozen=True)

    url: Url


class Product(ItemModel):
    """Something that can be bought. What is in stock has a price, and a price has a currency."""

    name: Name
    price: Amount | None = None
    regular_price: Amount | None = None
    low_price: Amount | None = None
    high_price: Amount | None = None
    currency: Currency | None = None
    stock: Availability | None = None
    stock_quantity: Count | None = None
    sku: Word | None = None
    gtin: Word | None = None
    mpn: Word | None = None
    brand: Word | None = None
    category: Name | None = None
    description: str | None = None
    rating: Annotated[Decimal, Field(ge=0, le=100)] | None = None
    rating_best: Annotated[Decimal, Field(gt=0, le=100)] | None = None
    rating_count: Count | None = None
    images: Annotated[list[Url], Field(max_length=MOST_IMAGES)] | None = None

    @model_validator(mode="after")
    def _priced(self) -> Self:
        amount = self.price if self.price is not None else self.low_price
        if amount is None and self.stock not in _GONE:
            raise ValueError("price: it is needed, unless the product cannot be had")
        if amount is not None and self.currency is None:
            raise ValueError("currency: a price needs one; declare it in the recipe")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.rating is not None and self.rating > (self.rating_best or 100):
            raise ValueError(f"rating: {self.rating} is more than the best, {self.rating_best}")
        if self.low_price and self.high_price and self.low_price > self.high_price:
            raise ValueError(f"low_price: {self.low_price} is more than {self.high_price}")
        return self


class Quote(ItemModel):
    """What a security costs. Prices may be negative: oil's was."""

    ticker: Annotated[str, Field(pattern=r"^[\w^][\w.^=:/+-]{0,39}$")]
    price: Figure
    currency: Currency
    name: Name | None = None
    change: Figure | None = None
    percent: Annotated[Decimal, Field(gt=-1_000_000, lt=1_000_000)] | None = None
    previous_close: Figure | None = None
    volume: Count | None = None
    market_cap: Annotated[int | Decimal, Field(ge=0, lt=10**18)] | None = None
    time: AwareDatetime | None = None

    @model_validator(mode="after")
    def _signed_alike(self) -> Self:
        change, percent = self.change or 0, self.percent or 0
        if change * percent < 0 and (self.price > 0):
            raise ValueError(f"percent: it is {percent} while the change is {change}")
        return self


MODELS: dict[str, type[ItemModel]] = {"product": Product, "quote": Quote}
"""By kind of item."""


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of item, for whoever reads what was stored."""
    return MODELS[kind].model_json_schema()
