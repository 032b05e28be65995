"""HTTP with the standard library: a pool of kept connections, time limits on the whole reply, no redirects."""

from __future__ import annotations

import http.client
import os
import selectors
import socket
import ssl
import threading
import time
from types import TracebackType
from typing import Iterator, Mapping, Protocol
from urllib.parse import urlsplit

from ._proxy import proxy_for
from ._request import REPLY_BYTES_MAX, Attempt, Reply
from .errors import ConnectionError

_CHUNK = 64 * 1024
#: Idle connections are kept for less time than common firewalls keep them, in seconds.
_IDLE_MAX = 50.0
_KEPT_MAX = 16

#: Errors of a kept connection that the server closed before it read the request.
_STALE = (
    ConnectionResetError,
    ConnectionAbortedError,
    BrokenPipeError,
    ssl.SSLEOFError,
    ssl.SSLZeroReturnError,
)


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
        self._proxy = proxy_for(url)
        self._pool = _Pool()

    def send(self, attempt: Attempt) -> Reply:
        deadline = time.monotonic() + attempt.timeout
        # Only a request that may be repeated goes over a kept connection, which the server may just have closed.
        kept = self._pool.take() if attempt.is_repeatable else None
        if kept is not None:
            try:
                return self._exchange(kept, attempt, deadline)
            except _STALE:
                # The others were most likely closed with it, for example when the server was restarted.
                self._pool.clear()
            except (OSError, http.client.HTTPException) as error:
                raise _failure(error, attempt.url) from error
        try:
            return self._exchange(self._connect(attempt.timeout), attempt, deadline)
        except ConnectionError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise _failure(error, attempt.url) from error

    def _exchange(self, connection: http.client.HTTPConnection, attempt: Attempt, deadline: float) -> Reply:
        try:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.timeout = left
            if connection.sock is not None:
                connection.sock.settimeout(left)
            target, headers = self._address(attempt.url, attempt.headers)
            connection.request(attempt.method, target, body=attempt.body, headers=headers)
            response = connection.getresponse()
            body = _read(response, connection, deadline)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._pool.give_back(connection)
        return Reply(response.status, _headers(response), body)

    def open(self, url: str, headers: Mapping[str, str], timeout: float, silence: float) -> Stream:
        connection = self._connect(timeout)
        try:
            target, sent = self._address(url, headers)
            connection.request("GET", target, headers=sent)
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
        self._pool.clear()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host, port = (self._proxy.host, self._proxy.port) if self._proxy else (self._host, self._port)
        if self._context is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=self._context)
        if self._proxy:
            connection.set_tunnel(self._host, self._port, self._proxy.headers)
        return connection

    def _address(self, url: str, headers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """The request target and the headers. A proxy gets the whole URL of a plain request (RFC 9112 section 3.2.2)."""
        if self._proxy and self._context is None:
            return url, {**headers, **self._proxy.headers}
        return _target(url), dict(headers)


class _Pool:
    """Idle connections of this process. A process that was forked starts with none, because the other one reads the sockets too."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []

    def _leave_parent(self) -> None:
        """Leaves the connections of the parent to it, after a fork. Another thread may have held the lock."""
        if self._process == os.getpid():
            return
        inherited, self._idle = self._idle, []
        self._lock = threading.Lock()
        self._process = os.getpid()
        for connection, _since in inherited:
            # Closes the descriptor of this process only. The parent goes on with its own.
            connection.close()

    def take(self) -> http.client.HTTPConnection | None:
        """The connection that was used last, or None. It is open, as far as this side has been informed."""
        self._leave_parent()
        oldest = time.monotonic() - _IDLE_MAX
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since = self._idle.pop()
            if since > oldest and connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        if self._process == os.getpid():
            with self._lock:
                if len(self._idle) < _KEPT_MAX:
                    self._idle.append((connection, time.monotonic()))
                    return
        connection.close()

    def clear(self) -> None:
        self._leave_parent()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _since in idle:
            connection.close()


def _is_readable(sock: socket.socket) -> bool:
    """True if an idle connection has something to read, which can only be its end or bytes of no request."""
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(sock, selectors.EVENT_READ)
        except (ValueError, OSError):
            return True
        return bool(selector.select(0))


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
