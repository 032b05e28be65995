"""Sends requests with retries, blocking."""

from __future__ import annotations

import time
from typing import Any, TypeVar, cast

from .._request import Request, Settings, Wait, attempt_of, body_of, json_of, pause_before
from .._transport import Transport
from ..errors import CallsignError

T = TypeVar("T")


class Connection:
    """One server and one key."""

    def __init__(self, settings: Settings, transport: Transport) -> None:
        self.settings = settings
        self.transport = transport

    def request(self, request: Request[T]) -> T:
        """The parsed reply. None if it has no body."""
        return cast(T, json_of(self.request_bytes(request)))

    def request_data(self, request: Request[T]) -> T:
        """The field `data` of the parsed reply."""
        return cast(T, json_of(self.request_bytes(request))["data"])

    def request_str(self, request: Request[Any]) -> str:
        return self.request_bytes(request).decode()

    def request_bytes(self, request: Request[Any]) -> bytes:
        attempt = attempt_of(self.settings, request)
        tries = 0
        while True:
            try:
                return body_of(self.transport.send(attempt))
            except CallsignError as error:
                pause = pause_before(error, tries, self.settings, attempt.is_repeatable)
                if pause is None:
                    raise
            time.sleep(pause)
            tries += 1

    def wait(self, request: Request[T]) -> T:
        """Waits with as many requests as needed. The item is None in the reply after a timeout."""
        wait = Wait(request, time.monotonic())
        while True:
            reply = self.request(wait.next(time.monotonic()))
            pause = wait.pause_after(reply, time.monotonic())
            if pause is None:
                return cast(T, reply)
            time.sleep(pause)
