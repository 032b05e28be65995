"""The parts of a request that both clients share: encoding, errors and the choice to retry."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
from dataclasses import dataclass
from typing import Any, Generic, Mapping, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .errors import ApiError, ConnectionError

T = TypeVar("T")

#: The maximum size of a reply in bytes. Unlocking a full vault returns about 25 MB.
REPLY_BYTES_MAX = 64 * 1024 * 1024
#: A longer Retry-After, in seconds, is passed to the caller instead of waiting for it.
RETRY_AFTER_MAX = 30.0
BACKOFF_FIRST = 0.25
BACKOFF_MAX = 5.0
TRANSIENT_STATUSES = {408, 429, 500, 502, 503, 504}

#: The server's maximum wait per request, in seconds, and the wait without `timeout`.
WAIT_MAX = 60
WAIT_DEFAULT = 30
#: The time limit of a wait beyond its own length.
WAIT_MARGIN = 15
PAUSE_SAME = 0.5
PAUSE_FURTHER = 0.01


class Unset:
    """The type of an argument that was not given. None is a value of its own in the API."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that were not given."""
    return {name: value for name, value in values.items() if not isinstance(value, Unset)}


def segment(value: str) -> str:
    """A value as one segment of a path. Raises ValueError on values that would change the path."""
    if value in ("", ".", ".."):
        raise ValueError(f'"{value}" cannot be a segment of a path')
    return quote(value, safe="")


@dataclass(frozen=True)
class Request(Generic[T]):
    """One call of the API. `path` is below `/api/v1`. `timeout` is in seconds."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Mapping[str, Any] | None = None
    is_keyed: bool = False
    idempotency_key: str | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class Reply:
    """A reply as bytes. The names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Settings:
    """The address of the server without a slash at its end, the key, and the limits of requests."""

    url: str
    api_key: str
    timeout: float
    retries_max: int

    def headers(self, accept: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.api_key}", "Accept": accept, "User-Agent": "callsign-python"}


def settings_of(url: str | None, api_key: str | None, timeout: float, retries_max: int) -> Settings:
    """Fills in `CALLSIGN_URL` and `CALLSIGN_API_KEY`. Raises TypeError that names everything missing."""
    address = url or os.environ.get("CALLSIGN_URL")
    key = api_key or os.environ.get("CALLSIGN_API_KEY")
    missing = [
        name
        for name, value in (("url (or CALLSIGN_URL)", address), ("api_key (or CALLSIGN_API_KEY)", key))
        if not value
    ]
    if not address or not key:
        raise TypeError(f"{' and '.join(missing)} must be given to the client.")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url must begin with http:// or https://")
    if parts.username or parts.password:
        raise ValueError("url must not carry a user name or password")
    if re.search(r"/api/v1/*$", parts.path):
        raise ValueError("url must be given without /api/v1, which is added")
    key = key.strip()
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("api_key must be printable ASCII without spaces")
    return Settings(f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", key, timeout, retries_max)


@dataclass(frozen=True)
class Attempt:
    """A request ready to be sent, the same on each retry."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout: float
    is_repeatable: bool


def attempt_of(settings: Settings, request: Request[Any]) -> Attempt:
    key = request.idempotency_key or (secrets.token_hex(16) if request.is_keyed else None)
    headers = settings.headers("application/json, */*;q=0.5")
    if key is not None:
        headers["Idempotency-Key"] = key
    body = None
    if request.body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(request.body, ensure_ascii=False, separators=(",", ":")).encode()
    return Attempt(
        method=request.method,
        url=f"{settings.url}/api/v1{request.path}{query_text(request.query)}",
        headers=headers,
        body=body,
        timeout=settings.timeout if request.timeout is None else request.timeout,
        is_repeatable=request.method in ("GET", "DELETE") or (request.is_keyed and key is not None),
    )


def query_text(query: Mapping[str, Any] | None) -> str:
    pairs = [(name, _query_value(value)) for name, value in (query or {}).items() if value is not None]
    return f"?{urlencode(pairs)}" if pairs else ""


def _query_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value)


def body_of(reply: Reply) -> bytes:
    """The body of success. Raises ApiError or ConnectionError for everything else."""
    if 200 <= reply.status < 300:
        return reply.body
    if 300 <= reply.status < 400:
        raise ConnectionError(
            "reply_unusable",
            "The server answered with a redirect, which is not followed. Use the address that it leads to.",
        )
    raise error_of(reply)


def json_of(body: bytes) -> Any:
    if not body:
        return None
    try:
        return json.loads(body.decode())
    except ValueError as error:
        raise ConnectionError(
            "reply_unusable", "The reply is not JSON. Check that the address is that of a Callsign server."
        ) from error


def error_of(reply: Reply) -> ApiError:
    """The server's error, or one made of the status if an intermediary answered."""
    request_id = reply.headers.get("x-request-id")
    retry_after = _seconds(reply.headers.get("retry-after"))
    try:
        error = json.loads(reply.body.decode())["error"]
        return ApiError(
            reply.status,
            str(error["code"]),
            str(error["message"]),
            request_id=error.get("request_id") or request_id,
            details=error.get("details"),
            retry_after=retry_after,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(
            reply.status,
            f"http_{reply.status}",
            f"The server answered {reply.status}.",
            request_id=request_id,
            retry_after=retry_after,
        )


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None


def pause_before(error: Exception, tries: int, settings: Settings, is_repeatable: bool) -> float | None:
    """Seconds until the next attempt, or None if there must not be one."""
    if tries >= settings.retries_max:
        return None
    backoff = min(BACKOFF_MAX, BACKOFF_FIRST * 2.0**tries) * (0.5 + random.random() / 2)
    if isinstance(error, ApiError):
        # A 429 guarantees that nothing was done, so even a change may be repeated.
        is_worth_it = error.status == 429 or (
            is_repeatable and (error.status in TRANSIENT_STATUSES or error.code == "idempotency_in_progress")
        )
        if not is_worth_it or (error.retry_after or 0) > RETRY_AFTER_MAX:
            return None
        return max(backoff, error.retry_after or 0)
    if isinstance(error, ConnectionError) and error.code in ("connection_failed", "timeout") and is_repeatable:
        return backoff
    return None


class Wait:
    """The series of requests of one wait. Each starts where the previous one ended, so that no arrival is missed."""

    def __init__(self, request: Request[Any], now: float) -> None:
        query = dict(request.query or {})
        timeout = query.pop("timeout", WAIT_DEFAULT)
        self._after = query.pop("after", None)
        self._cursor = query.pop("cursor", None)
        self._filter = query
        self._request = request
        self._deadline = now + timeout

    def next(self, now: float) -> Request[Any]:
        """The next request. The first one without a starting point asks for the cursor only."""
        if self._cursor is None and self._after is None:
            return self._with({}, 0)
        left = max(0.0, self._deadline - now)
        start = {"cursor": self._cursor} if self._cursor is not None else {"after": self._after}
        return self._with(start, min(WAIT_MAX, -int(-left // 1)))

    def pause_after(self, reply: Mapping[str, Any], now: float) -> float | None:
        """Seconds until the next request, or None if the reply is the result."""
        is_start = self._cursor is None and self._after is None
        previous, self._cursor = self._cursor, reply["cursor"]
        if is_start:
            return 0.0
        if reply["message"] is not None or now >= self._deadline:
            return None
        # A server that is shutting down answers at once with the same cursor.
        return PAUSE_SAME if previous == self._cursor else PAUSE_FURTHER

    def _with(self, start: Mapping[str, Any], seconds: int) -> Request[Any]:
        limit = self._request.timeout
        return Request(
            "GET",
            self._request.path,
            query={**self._filter, **start, "timeout": seconds},
            timeout=seconds + WAIT_MARGIN if limit is None else limit,
        )
