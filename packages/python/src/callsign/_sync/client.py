"""The synchronous client."""

from __future__ import annotations

from types import TracebackType

from .._request import settings_of
from .._transport import StandardTransport, Transport
from .connection import Connection
from .resources import Resources
from ..vault.client import Vault
from ..vault.pins import PinStore
from .tools import Tools



class Callsign(Resources):
    """A client of one Callsign server with one key.

    `url` defaults to the environment variable `CALLSIGN_URL`, and `api_key` to `CALLSIGN_API_KEY`.
    `timeout` is the time limit of one attempt in seconds. Requests that are safe to repeat are
    retried up to `retries_max` times.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries_max: int = 2,
        transport: Transport | None = None,
        vault_pins: PinStore | None = None,
    ) -> None:
        settings = settings_of(url, api_key, timeout, retries_max)
        self._transport: Transport = transport or StandardTransport(settings.url)
        connection = Connection(settings, self._transport)
        super().__init__(connection)
        self.tools = Tools(connection)
        self.vault = Vault(connection, vault_pins)

    def close(self) -> None:
        """Closes kept connections."""
        self._transport.close()

    def __enter__(self) -> Callsign:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
