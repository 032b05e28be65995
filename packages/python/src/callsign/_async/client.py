"""The asynchronous client."""

from __future__ import annotations

from types import TracebackType

from .._request import settings_of
from .._sync.connection import Connection
from .._transport import StandardTransport
from ..vault.aio import AsyncVault
from ..vault.client import Vault
from ..vault.pins import PinStore
from .connection import AsyncConnection
from .resources import Resources
from .tools import AsyncTools
from .transport import AsyncTransport, default_transport


class AsyncCallsign(Resources):
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
        transport: AsyncTransport | None = None,
        vault_pins: PinStore | None = None,
    ) -> None:
        settings = settings_of(url, api_key, timeout, retries_max)
        self._transport: AsyncTransport = transport or default_transport(settings.url)
        connection = AsyncConnection(settings, self._transport)
        super().__init__(connection)
        self.tools = AsyncTools(connection)
        self._blocking = StandardTransport(settings.url)
        self.vault = AsyncVault(Vault(Connection(settings, self._blocking), vault_pins))

    async def close(self) -> None:
        """Closes kept connections."""
        await self._transport.close()
        self._blocking.close()

    async def __aenter__(self) -> AsyncCallsign:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
