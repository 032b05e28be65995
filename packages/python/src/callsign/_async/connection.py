"""Sends requests with retries, for asyncio."""

from __future__ import annotations

import asyncio
import time
from typing import Any, TypeVar, cast

from .._request import Request, Settings, Wait, attempt_of, body_of, json_of, pause_before
from ..errors import CallsignError
from .transport import AsyncTransport

T = TypeVar("T")


class AsyncConnection:
    """One server and one key."""

    def __init__(self, settings: Settings, transport: AsyncTransport) -> None:
        self.settings = settings
        self.transport = transport

    async def request(self, request: Request[T]) -> T:
        """The parsed reply. None if it has no body."""
        return cast(T, json_of(await self.request_bytes(request)))

    async def request_data(self, request: Request[T]) -> T:
        """The field `data` of the parsed reply."""
        return cast(T, json_of(await self.request_bytes(request))["data"])

    async def request_str(self, request: Request[Any]) -> str:
        return (await self.request_bytes(request)).decode()

    async def request_bytes(self, request: Request[Any]) -> bytes:
        attempt = attempt_of(self.settings, request)
        tries = 0
        while True:
            try:
                return body_of(await self.transport.send(attempt))
            except CallsignError as error:
                pause = pause_before(error, tries, self.settings, attempt.is_repeatable)
                if pause is None:
                    raise
            await asyncio.sleep(pause)
            tries += 1

    async def wait(self, request: Request[T]) -> T:
        """Waits with as many requests as needed. The item is None in the reply after a timeout."""
        wait = Wait(request, time.monotonic())
        while True:
            reply = await self.request(wait.next(time.monotonic()))
            pause = wait.pause_after(reply, time.monotonic())
            if pause is None:
                return cast(T, reply)
            await asyncio.sleep(pause)
