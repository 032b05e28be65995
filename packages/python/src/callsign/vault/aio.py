"""The vault for asyncio. Key derivation takes a second of processor time, so every call runs on a thread."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, ParamSpec, TypeVar

from .client import Secret, SecretSummary, UnlockedVault, Vault
from .pins import Document

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class AsyncNewVault:
    """A new vault. `vault_key` and `recovery_codes` are returned only here."""

    vault: AsyncUnlockedVault
    vault_key: str
    recovery_codes: List[str]


class AsyncVault:
    """The closed vault of the organization, as `Vault`."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def status(self) -> Document:
        return await asyncio.to_thread(self._vault.status)

    async def initialize(self, vault_key: str | None = None, *, recovery_codes: int = 4) -> AsyncNewVault:
        new = await asyncio.to_thread(self._vault.initialize, vault_key, recovery_codes=recovery_codes)
        return AsyncNewVault(AsyncUnlockedVault(new.vault), new.vault_key, new.recovery_codes)

    async def unlock(self, vault_key: str, *, accept_new_vault: bool = False) -> AsyncUnlockedVault:
        unlocked = await asyncio.to_thread(self._vault.unlock, vault_key, accept_new_vault=accept_new_vault)
        return AsyncUnlockedVault(unlocked)


class AsyncUnlockedVault:
    """An open vault, as `UnlockedVault`."""

    def __init__(self, vault: UnlockedVault) -> None:
        self._vault = vault
        self._turn = asyncio.Lock()

    @property
    def id(self) -> str:
        return self._vault.id

    @property
    def missing(self) -> List[str]:
        return self._vault.missing

    async def list(self) -> List[SecretSummary]:
        return await self._run(self._vault.list)

    async def get(self, reference: str) -> Secret:
        return await self._run(self._vault.get, reference)

    async def create(
        self, type: str, name: str, payload: Mapping[str, Any], *, description: str | None = None
    ) -> SecretSummary:
        return await self._run(self._vault.create, type, name, payload, description=description)

    async def update(
        self, reference: str, *, payload: Mapping[str, Any] | None = None, name: str | None = None
    ) -> SecretSummary:
        return await self._run(self._vault.update, reference, payload=payload, name=name)

    async def delete(self, reference: str) -> None:
        await self._run(self._vault.delete, reference)

    async def grant(self, reference: str, agent_handle: str) -> Document:
        return await self._run(self._vault.grant, reference, agent_handle)

    async def revoke(self, reference: str, agent_handle: str) -> None:
        await self._run(self._vault.revoke, reference, agent_handle)

    async def totp(self, reference: str) -> str:
        return await self._run(self._vault.totp, reference)

    async def refresh(self) -> None:
        await self._run(self._vault.refresh)

    def lock(self) -> None:
        self._vault.lock()

    async def _run(self, method: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """One call at a time, because the open vault is not safe to use from several threads."""
        async with self._turn:
            return await asyncio.to_thread(method, *args, **named)
