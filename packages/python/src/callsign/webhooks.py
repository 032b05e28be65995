"""Signatures of webhooks by Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Any, Iterable, Mapping

from .errors import InvalidSignature

#: The maximum difference between the clocks of sender and receiver, in seconds.
TOLERANCE = 300


def verify_webhook(
    headers: Mapping[str, str], body: bytes | str, secret: str | Iterable[str], *, now: float | None = None
) -> Any:
    """Verifies a webhook against its secret, or several during a rotation, and returns its parsed body.

    `body` is the exact bytes as received. `now` is in seconds since 1970, for tests. Raises
    InvalidSignature, and only that.
    """
    id, timestamp, given = (_header(headers, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise InvalidSignature("webhook-timestamp is not a Unix time in seconds.")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise InvalidSignature(f"webhook-timestamp is more than {TOLERANCE} seconds away from the current time.")
    content = _bytes_of(body)
    signed = f"{id}.{int(timestamp)}.".encode() + content
    candidates = [part[3:].encode() for part in given.split(" ") if part.startswith("v1,")]
    is_good = False
    for one in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.new(_secret_bytes(one), signed, hashlib.sha256).digest())
        for candidate in candidates:
            is_good = hmac.compare_digest(expected, candidate) or is_good
    if not is_good:
        raise InvalidSignature("webhook-signature does not match the secret.")
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError):
        raise InvalidSignature("The body is signed, but it is not JSON.") from None


def sign_webhook(secret: str, id: str, body: str, *, now: float | None = None) -> dict[str, str]:
    """The three headers of a webhook sent now, for tests of a receiver."""
    seconds = int(time.time() if now is None else now)
    digest = hmac.new(_secret_bytes(secret), f"{id}.{seconds}.{body}".encode(), hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _header(headers: Mapping[str, str], name: str) -> str:
    for key, value in headers.items():
        if isinstance(key, str) and key.lower() == name:
            if not isinstance(value, str) or not value.isascii():
                raise InvalidSignature(f"{name} is not ASCII text.")
            return value
    raise InvalidSignature(f"{name} is missing.")


def _bytes_of(body: bytes | str) -> bytes:
    try:
        return body.encode() if isinstance(body, str) else bytes(memoryview(body))
    except (TypeError, UnicodeEncodeError):
        raise InvalidSignature("The body must be the bytes as received.") from None


def _secret_bytes(secret: str) -> bytes:
    try:
        raw = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        # Also binascii.Error, which is one.
        raise InvalidSignature("The secret is not valid. It must be whsec_ followed by base64.") from None
    if len(raw) < 24:
        raise InvalidSignature("The secret is shorter than 24 bytes.")
    return raw
