"""Books page by page, and each on a page of its own: an item loader gathers its fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scrapy
from itemloaders.processors import Join, MapCompose, TakeFirst
from scrapy.loader import ItemLoader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class Offer(scrapy.Item):
    name = scrapy.Field()
    price = scrapy.Field()
    upc = scrapy.Field()
    rating = scrapy.Field()
    stock = scrapy.Field()


class OfferLoader(ItemLoader):
    default_item_class = Offer
    default_output_processor = TakeFirst()
    name_in = MapCompose(str.strip)
    rating_in = MapCompose(lambda classes: classes.split()[-1])
    stock_in = MapCompose(str.strip)
    stock_out = Join(" ")


class OffersSpider(scrapy.Spider):
    name = "offers"
    site: str

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(f"{self.site}/offers/page-1.html")

    def parse(self, response: Any) -> Iterator[Any]:
        for pod in response.css("article.product_pod"):
            price = pod.css("p.price_color::text").get()
            link = pod.css("h3 a")[0]
            yield response.follow(link, callback=self.parse_offer, cb_kwargs={"price": price})
        following = response.css("li.next a::attr(href)").get()
        if following is not None:
            yield scrapy.Request(response.urljoin(following), callback=self.parse)

    def parse_offer(self, response: Any, price: str) -> Offer:
        loader = OfferLoader(response=response)
        loader.add_css("name", "h1::text")
        loader.add_value("price", price)
        loader.add_xpath("upc", "//th[text()='UPC']/following-sibling::td/text()")
        loader.add_css("rating", "p.star-rating::attr(class)")
        loader.add_css("stock", "p.instock::text")
        offer: Offer = loader.load_item()
        return offer
