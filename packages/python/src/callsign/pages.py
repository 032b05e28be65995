"""Iterates over the items of all pages of a list."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, Mapping

from .errors import ConnectionError

_SAME_CURSOR = ("reply_unusable", "The server returned the same cursor twice.")


def every_item(list_page: Callable[..., Any], *path: str, **filters: Any) -> Iterator[Any]:
    """Yields every item of a list, fetched page by page, as in `every_item(client.keys.list)`.

    `path` and `filters` are passed to each call. Raises ConnectionError if the server repeats a cursor.
    """
    seen: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = list_page(*path, **filters, **cursor)
        yield from _items(page)
        following = page.get("next_cursor")
        if following is None:
            return
        if following in seen:
            raise ConnectionError(*_SAME_CURSOR)
        seen.add(following)
        cursor = {"cursor": following}


async def every_item_async(
    list_page: Callable[..., Awaitable[Any]], *path: str, **filters: Any
) -> AsyncIterator[Any]:
    """The same for the asynchronous client: `async for key in every_item_async(client.keys.list)`."""
    seen: set[str] = set()
    cursor: dict[str, str] = {}
    while True:
        page = await list_page(*path, **filters, **cursor)
        for item in _items(page):
            yield item
        following = page.get("next_cursor")
        if following is None:
            return
        if following in seen:
            raise ConnectionError(*_SAME_CURSOR)
        seen.add(following)
        cursor = {"cursor": following}


def _items(page: Mapping[str, Any]) -> list[Any]:
    for value in page.values():
        if isinstance(value, list):
            return value
    raise ConnectionError("reply_unusable", "The reply is not a page of a list.")
