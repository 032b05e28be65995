"""HTTP with the standard library: a pool of kept connections, time limits on the whole reply, no redirects."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from types import TracebackType
from typing import Iterator, Mapping, Protocol
from urllib.parse import urlsplit

from ._request import REPLY_BYTES_MAX, Attempt, Reply
from .errors import ConnectionError

_CHUNK = 64 * 1024


class Stream(Protocol):
    """An open reply that is read line by line."""

    reply: Reply

    def lines(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class Transport(Protocol):
    """Sends one attempt. Raises ConnectionError if no complete reply arrived."""

    def send(self, attempt: Attempt) -> Reply: ...

    def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> Stream: ...

    def close(self) -> None: ...


class StandardTransport:
    """The transport without dependencies. Safe to use from several threads."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def send(self, attempt: Attempt) -> Reply:
        deadline = time.monotonic() + attempt.timeout
        # Only a request that may be repeated goes over a kept connection, which the server may just have closed.
        connection = self._take(attempt.timeout) if attempt.is_repeatable else self._connect(attempt.timeout)
        try:
            connection.request(attempt.method, _target(attempt.url), body=attempt.body, headers=attempt.headers)
            response = connection.getresponse()
            body = _read(response, connection, deadline)
        except ConnectionError:
            connection.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _failure(error, attempt.url) from error
        reply = Reply(response.status, _headers(response), body)
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return reply

    def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> Stream:
        connection = self._connect(timeout)
        try:
            connection.request("GET", _target(url), headers=dict(headers))
            response = connection.getresponse()
            if response.status != 200:
                body = _read(response, connection, time.monotonic() + timeout)
                return _Lines(connection, response, Reply(response.status, _headers(response), body))
            connection.sock.settimeout(silence)
            return _Lines(connection, response, Reply(200, _headers(response), b""))
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise _failure(error, url) from error

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._context:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _take(self, timeout: float) -> http.client.HTTPConnection:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is None or connection.sock is None:
            return self._connect(timeout)
        connection.timeout = timeout
        connection.sock.settimeout(timeout)
        return connection

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < 16:
                self._idle.append(connection)
                return
        connection.close()


class _Lines:
    def __init__(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, reply: Reply
    ) -> None:
        self.reply = reply
        self._connection = connection
        self._response = response

    def lines(self) -> Iterator[bytes]:
        try:
            while True:
                line = self._response.readline(REPLY_BYTES_MAX)
                if not line:
                    return
                yield line
        except (OSError, http.client.HTTPException, ValueError):
            # A lost or silent connection ends the stream. The reader connects again.
            return

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _target(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}


def _read(response: http.client.HTTPResponse, connection: http.client.HTTPConnection, deadline: float) -> bytes:
    """The whole body. The time limit holds for all of it, not for each read."""
    chunks: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ConnectionError("timeout", "The server did not answer completely in time.")
        if connection.sock is not None:
            connection.sock.settimeout(left)
        chunk = response.read(_CHUNK)
        if not chunk:
            return b"".join(chunks)
        size += len(chunk)
        if size > REPLY_BYTES_MAX:
            raise ConnectionError("reply_too_large", f"The reply is larger than {REPLY_BYTES_MAX} bytes.")
        chunks.append(chunk)


def _failure(error: Exception, url: str) -> ConnectionError:
    parts = urlsplit(url)
    address = f"{parts.scheme}://{parts.netloc}"
    if isinstance(error, TimeoutError):
        return ConnectionError("timeout", f"{address} did not answer completely in time.")
    return ConnectionError("connection_failed", f"{address} did not answer: {error or type(error).__name__}")
