"""Pins record the last known state of a vault, so that a server cannot substitute another or an older one."""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Protocol

from ..errors import VaultError

#: `version`, the vault of each API key by its public id, and the state of each vault.
Document = Dict[str, Any]

_LOCK_AGE_MAX = 10.0


class PinStore(Protocol):
    """Pins by the address of the server. `update` is atomic with respect to other updates."""

    def read(self, server: str) -> Document | None: ...

    def update(self, server: str, change: Callable[[Document | None], Document]) -> None: ...


class MemoryPins:
    """Pins for the lifetime of this object."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def read(self, server: str) -> Document | None:
        return self._documents.get(server)

    def update(self, server: str, change: Callable[[Document | None], Document]) -> None:
        self._documents[server] = change(self._documents.get(server))


class FilePins:
    """Pins in the file that the command line and the TypeScript client use, readable by its owner alone."""

    def __init__(self, file: str | os.PathLike[str] | None = None) -> None:
        self._file = Path(file) if file is not None else default_pin_file()

    def read(self, server: str) -> Document | None:
        return self._read_all().get(server)

    def update(self, server: str, change: Callable[[Document | None], Document]) -> None:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                documents = self._read_all()
                documents[server] = change(documents.get(server))
                fresh = self._file.with_name(f"{self._file.name}.{secrets.token_hex(6)}")
                descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(json.dumps(documents, indent=1) + "\n")
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(fresh, self._file)
        except OSError as error:
            raise VaultError("pins_unreadable", f"The pins cannot be stored in {self._file}: {error}") from error

    def _read_all(self) -> dict[str, Document]:
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise VaultError("pins_unreadable", f"The pins in {self._file} cannot be read: {error}") from error
        try:
            documents: dict[str, Document] = json.loads(text)
            for document in documents.values():
                if document["version"] != 1 or not isinstance(document["keys"], dict):
                    raise ValueError("unknown form")
                for pins in document["vaults"].values():
                    if not isinstance(pins["state"], dict) or not isinstance(pins["secrets"], dict):
                        raise ValueError("unknown form")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # Unreadable pins must not disable the checks.
            raise VaultError(
                "pins_unreadable", f"The pins in {self._file} cannot be read. Restore or remove the file yourself."
            ) from error
        return documents

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = self._file.with_name(f"{self._file.name}.lock")
        while True:
            try:
                os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
                break
            except FileExistsError:
                self._remove_stale(lock)
                time.sleep(0.01)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)

    @staticmethod
    def _remove_stale(lock: Path) -> None:
        try:
            age = time.time() - lock.stat().st_mtime
        except FileNotFoundError:
            return
        if age > _LOCK_AGE_MAX:
            lock.unlink(missing_ok=True)


def default_pin_file() -> Path:
    """`vault-pins.json` in `CALLSIGN_CLIENT_DIR`, or in `callsign` in the folder for settings."""
    folder = os.environ.get("CALLSIGN_CLIENT_DIR")
    if folder:
        return Path(folder) / "vault-pins.json"
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(settings) / "callsign" / "vault-pins.json"


def check_claim(document: Document | None, key_id: str | None, claim: Document) -> None:
    """Checks the server's claim before anything is derived. Raises `vault_changed` or `vault_rolled_back`.

    A server without pins is new and is trusted once. On a server with pins, another vault has to be accepted.
    """
    if document is None:
        return
    expected = document["keys"].get(key_id) if key_id is not None else None
    if expected is not None and expected != claim["vault"]:
        raise _changed("is another vault")
    pins = document["vaults"].get(claim["vault"])
    if pins is None:
        if document["vaults"]:
            raise _changed("is another vault")
        return
    if pins["organization"] != claim["organization"]:
        raise _changed("belongs to another organization")
    if claim["key_version"] < pins["state"]["keyVersion"]:
        raise _rolled_back(claim["key_version"], pins["state"]["keyVersion"])
    states = _states(pins)
    if not any(_same_kdf(state, claim) for state in states):
        raise _changed("has another salt or other key derivation parameters")
    if not any(state["keyVersion"] == claim["key_version"] for state in states):
        raise _changed(f"has key version {claim['key_version']}")


def check_fingerprint(pins: Document | None, key_version: int, fingerprint: str) -> None:
    """Checks the organization key once it is unwrapped."""
    if pins is None:
        return
    if any(state["keyVersion"] == key_version and state["fingerprint"] == fingerprint for state in _states(pins)):
        return
    if key_version < pins["state"]["keyVersion"]:
        raise _rolled_back(key_version, pins["state"]["keyVersion"])
    raise _changed("has another organization key")


def pin_vault(
    document: Document | None, key_id: str | None, claim: Document, fingerprint: str, is_fresh: bool
) -> Document:
    """The document with this vault in this state. Known revisions stay, unless `is_fresh` discards them."""
    whole = document or {"version": 1, "keys": {}, "vaults": {}}
    old = None if is_fresh else whole["vaults"].get(claim["vault"])
    state = {
        "salt": claim["salt"],
        "kdf": claim["kdf"],
        "keyVersion": claim["key_version"],
        "fingerprint": fingerprint,
    }
    pins: Document = {
        "organization": claim["organization"],
        "state": state,
        "secrets": old["secrets"] if old else {},
    }
    if old and "pending" in old and _same_kdf(old["state"], claim) and old["state"]["keyVersion"] == claim["key_version"]:
        pins["pending"] = old["pending"]
    keys = whole["keys"] if key_id is None else {**whole["keys"], key_id: claim["vault"]}
    return {"version": 1, "keys": keys, "vaults": {**whole["vaults"], claim["vault"]: pins}}


def pin_secrets(document: Document | None, vault: str, seen: dict[str, Document]) -> Document:
    """The document with updated secrets. Revisions only rise, and a bound secret stays bound."""
    pins = document["vaults"].get(vault) if document else None
    if document is None or pins is None:
        raise VaultError("pins_unreadable", "The pins of the vault were removed while it was open. Unlock it again.")
    secrets_ = dict(pins["secrets"])
    for id, pin in seen.items():
        old = secrets_.get(id, {"rev": 0, "bound": False})
        secrets_[id] = {"rev": max(pin["rev"], old["rev"]), "bound": pin["bound"] or old["bound"]}
        if pin.get("deleted") or old.get("deleted"):
            secrets_[id]["deleted"] = True
    return {**document, "vaults": {**document["vaults"], vault: {**pins, "secrets": secrets_}}}


def _states(pins: Document) -> list[Document]:
    return [pins["state"], pins["pending"]] if "pending" in pins else [pins["state"]]


def _same_kdf(state: Document, claim: Document) -> bool:
    return state["salt"] == claim["salt"] and all(state["kdf"][name] == claim["kdf"][name] for name in ("m", "t", "p"))


def _changed(how: str) -> VaultError:
    return VaultError(
        "vault_changed",
        f"The vault {how} than this client has seen before. If its keys were changed elsewhere on purpose, "
        "accept it once (accept_new_vault).",
    )


def _rolled_back(offered: int, seen: int) -> VaultError:
    return VaultError("vault_rolled_back", f"The server offers key version {offered}, but {seen} was seen before.")
