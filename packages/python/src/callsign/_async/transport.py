"""HTTP for asyncio: over httpx if it is installed, otherwise the standard library on threads."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, AsyncIterator, Callable, Mapping, Protocol
from urllib.parse import urlsplit

from .._proxy import proxy_for
from .._request import REPLY_BYTES_MAX, Attempt, Reply
from .._transport import StandardTransport, Stream
from ..errors import ConnectionError

if TYPE_CHECKING:
    import httpx


class AsyncStream(Protocol):
    """An open reply that is read line by line."""

    reply: Reply

    def lines(self) -> AsyncIterator[bytes]: ...

    async def close(self) -> None: ...


class AsyncTransport(Protocol):
    """Sends one attempt. Raises ConnectionError if no complete reply arrived."""

    async def send(self, attempt: Attempt) -> Reply: ...

    async def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> AsyncStream: ...

    async def close(self) -> None: ...


def default_transport(url: str) -> AsyncTransport:
    try:
        import httpx
    except ImportError:
        return ThreadTransport(StandardTransport(url))
    proxy = proxy_for(url)

    def connect() -> httpx.AsyncClient:
        transport = httpx.AsyncHTTPTransport(proxy=httpx.Proxy(proxy.url) if proxy else None, trust_env=False)
        return httpx.AsyncClient(follow_redirects=False, trust_env=False, transport=transport)

    return HttpxTransport(connect)


class ThreadTransport:
    """Blocking requests on threads. A cancelled task leaves its thread until the request ends."""

    def __init__(self, transport: StandardTransport) -> None:
        self._transport = transport

    async def send(self, attempt: Attempt) -> Reply:
        return await asyncio.to_thread(self._transport.send, attempt)

    async def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> AsyncStream:
        return _ThreadStream(await asyncio.to_thread(self._transport.open, url, headers, timeout, silence))

    async def close(self) -> None:
        self._transport.close()


class _ThreadStream:
    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.reply = stream.reply

    async def lines(self) -> AsyncIterator[bytes]:
        lines = self._stream.lines()
        while True:
            line = await asyncio.to_thread(next, lines, None)
            if line is None:
                return
            yield line

    async def close(self) -> None:
        self._stream.close()


class HttpxTransport:
    """Requests over an `httpx.AsyncClient` of this process. A process that was forked gets another."""

    def __init__(self, connect: Callable[[], httpx.AsyncClient]) -> None:
        self._connect = connect
        self._process = os.getpid()
        self._own = connect()

    @property
    def _client(self) -> httpx.AsyncClient:
        if self._process != os.getpid():
            self._process = os.getpid()
            self._own = self._connect()
        return self._own

    async def send(self, attempt: Attempt) -> Reply:
        import httpx

        try:
            return await asyncio.wait_for(self._send(attempt), attempt.timeout)
        except (asyncio.TimeoutError, httpx.TimeoutException) as error:
            raise ConnectionError("timeout", f"{_origin(attempt.url)} did not answer completely in time.") from error
        except httpx.HTTPError as error:
            raise _failure(attempt.url, error) from error

    async def _send(self, attempt: Attempt) -> Reply:
        chunks: list[bytes] = []
        size = 0
        async with self._client.stream(
            attempt.method, attempt.url, headers=attempt.headers, content=attempt.body, timeout=attempt.timeout,
            follow_redirects=False,
        ) as response:
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                if size > REPLY_BYTES_MAX:
                    raise ConnectionError("reply_too_large", f"The reply is larger than {REPLY_BYTES_MAX} bytes.")
                chunks.append(chunk)
            return Reply(response.status_code, dict(response.headers), b"".join(chunks))

    async def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> AsyncStream:
        import httpx

        limits = httpx.Timeout(timeout, read=silence)
        try:
            request = self._client.build_request("GET", url, headers=dict(headers), timeout=limits)
            response = await self._client.send(request, stream=True, follow_redirects=False)
            body = b"" if response.status_code == 200 else await response.aread()
        except httpx.HTTPError as error:
            raise _failure(url, error) from error
        return _HttpxStream(response, Reply(response.status_code, dict(response.headers), body))

    async def close(self) -> None:
        await self._client.aclose()


class _HttpxStream:
    def __init__(self, response: httpx.Response, reply: Reply) -> None:
        self._response = response
        self.reply = reply

    async def lines(self) -> AsyncIterator[bytes]:
        import httpx

        try:
            async for line in self._response.aiter_lines():
                yield line.encode() + b"\n"
        except httpx.HTTPError:
            # A lost or silent connection ends the stream. The reader connects again.
            return

    async def close(self) -> None:
        await self._response.aclose()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _failure(url: str, error: Exception) -> ConnectionError:
    return ConnectionError("connection_failed", f"{_origin(url)} did not answer: {error or type(error).__name__}")
