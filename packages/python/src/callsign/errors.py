"""Errors of the client: replies that report an error, failed connections, and checks of the vault."""

from __future__ import annotations

from typing import Any

from ._hints import HINTS


class CallsignError(Exception):
    """The base of every error that this package raises on purpose. `code` is stable, for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ApiError(CallsignError):
    """An error reply of the server. `details` lists invalid fields, if any."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        request_id: str | None = None,
        details: Any = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, message)
        self.status = status
        self.request_id = request_id
        self.details = details
        #: The seconds to wait that the server asked for, or None.
        self.retry_after = retry_after

    @property
    def hint(self) -> str | None:
        """What the code means in general. The message says more about this request."""
        return HINTS.get(self.code)

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"


class ConnectionError(CallsignError):  # noqa: A001
    """No usable reply arrived. `code` is `connection_failed`, `timeout`, `reply_too_large` or
    `reply_unusable`. The server may have acted.
    """


class InvalidSignature(CallsignError):
    """A webhook whose signature is wrong or malformed. The message gives the reason."""

    def __init__(self, message: str) -> None:
        super().__init__("invalid_signature", message)


class VaultError(CallsignError):
    """The vault client stopped. Nothing more was derived, sent or shown."""
