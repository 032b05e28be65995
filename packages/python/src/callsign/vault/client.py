"""The vault: unlocked on this machine, stored on the server as ciphertext."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping

from .._request import Request, segment
from .._sync.connection import Connection
from ..errors import ApiError, VaultError
from ..pages import every_item
from . import crypto
from .pins import Document, FilePins, PinStore, check_claim, check_fingerprint, pin_secrets, pin_vault


@dataclass(frozen=True)
class Secret:
    """A decrypted secret. `name` and `type` were encrypted with it, unless `is_bound` is False."""

    id: str
    type: str
    name: str
    is_bound: bool
    description: str | None
    revision: int
    payload: Dict[str, Any]


@dataclass(frozen=True)
class SecretSummary:
    """A secret without its payload. `problem` is the reason why it cannot be read, or None."""

    id: str
    type: str
    name: str
    is_bound: bool
    description: str | None
    revision: int
    problem: VaultError | None = None


@dataclass(frozen=True)
class NewVault:
    """A new vault. `vault_key` and `recovery_codes` are returned only here."""

    vault: UnlockedVault
    vault_key: str
    recovery_codes: List[str]


class Vault:
    """The closed vault of the organization. Needs the extra: `pip install "callsign[vault]"`."""

    def __init__(self, connection: Connection, pins: PinStore | None = None) -> None:
        self._connection = connection
        self._pins = pins or FilePins()

    def status(self) -> Document:
        """The server's description of the vault."""
        reply: Document = self._connection.request(Request("GET", "/vault"))
        return reply

    def initialize(self, vault_key: str | None = None, *, recovery_codes: int = 4) -> NewVault:
        """Creates the vault. Without a vault key, one is generated. Raises `vault_already_initialized`."""
        key = vault_key or crypto.generate_vault_key()
        kdf = crypto.new_kdf()
        organization_key = secrets.token_bytes(32)
        codes = [crypto.generate_recovery_code() for _ in range(recovery_codes)]
        primary = _wrap(crypto.new_vault_key_bytes(key), kdf, organization_key)
        code_kdf = crypto.new_kdf()
        of_code = {"kdf_salt": code_kdf.salt_text, "kdf_params": code_kdf.params}
        body = {
            "id": crypto.new_id("vlt"),
            "kdf_salt": kdf.salt_text,
            "kdf_params": kdf.params,
            **primary,
            "recovery_keys": [{**_wrap(code.encode(), code_kdf, organization_key), **of_code} for code in codes],
        }
        reply = self._connection.request(Request[Any]("POST", "/vault/initialize", body=body, is_keyed=True))
        claim, answered = _claim_of(reply)
        if claim["vault"] != body["id"] or answered.salt_text != kdf.salt_text:
            raise VaultError("vault_changed", "The server answered with another vault than the created one.")
        return NewVault(self._open(claim, claim["key_version"], organization_key, [], True), key, codes)

    def unlock(self, vault_key: str, *, accept_new_vault: bool = False) -> UnlockedVault:
        """Derives and proves the key, and verifies every secret that the caller can read.

        Nothing is derived before parameters, salt and pins have passed. Raises VaultError, or ApiError
        429 after too many wrong keys. `accept_new_vault` discards what was seen of this vault before.
        """
        secret = crypto.vault_key_bytes(vault_key)
        reply = self.status()
        if reply.get("initialized") is False:
            raise VaultError("vault_not_initialized", "The organization has no vault yet.")
        claim, kdf = _claim_of(reply)
        if not accept_new_vault:
            check_claim(self._pins.read(self._connection.settings.url), self._key_id(), claim)
        master = crypto.derive_master(secret, kdf)
        opened = self._prove(crypto.auth_hash(master))
        if opened.get("vault_id") != claim["vault"]:
            raise VaultError("vault_changed", "The server answered with another vault.")
        used = crypto.check_kdf(opened.get("kdf_params"), opened.get("kdf_salt"))
        if used != kdf:
            raise VaultError("vault_changed", "The server returned another salt or other parameters after the unlock.")
        key = crypto.unwrap_key(master, opened.get("wrapped_org_key"))
        return self._open(claim, _count(opened.get("key_version")), key, _rows(opened.get("secrets")), accept_new_vault)

    def _prove(self, auth_hash: str) -> Document:
        try:
            reply: Document = self._connection.request(Request("POST", "/vault/unlock", body={"auth_hash": auth_hash}))
        except ApiError as error:
            if error.code != "invalid_auth_hash":
                raise
            raise VaultError("wrong_vault_key", "This is not the key of the vault.") from error
        return reply

    def _open(
        self, claim: Document, key_version: int, key: bytes, rows: List[Document], is_fresh: bool
    ) -> UnlockedVault:
        server = self._connection.settings.url
        document = None if is_fresh else self._pins.read(server)
        fingerprint = crypto.fingerprint_of(key)
        check_fingerprint(document["vaults"].get(claim["vault"]) if document else None, key_version, fingerprint)
        current = {**claim, "key_version": key_version}
        self._pins.update(server, lambda old: pin_vault(old, self._key_id(), current, fingerprint, is_fresh))
        vault = UnlockedVault(self._connection, self._pins, current, key)
        vault._load(rows)
        return vault

    def _key_id(self) -> str | None:
        """The public id inside a Callsign key."""
        found = re.fullmatch(r"svc_live_([0-9A-Za-z]{16})[0-9A-Za-z]{49}", self._connection.settings.api_key)
        return found.group(1) if found else None


class UnlockedVault:
    """An open vault. Secrets are decrypted on each access, on this machine."""

    def __init__(self, connection: Connection, pins: PinStore, claim: Document, key: bytes) -> None:
        self._connection = connection
        self._pins = pins
        self._claim = claim
        self._key: bytes | None = key
        self._rows: dict[str, Document] = {}

    @property
    def id(self) -> str:
        return str(self._claim["vault"])

    @property
    def missing(self) -> List[str]:
        """Ids seen earlier that the server no longer returns: deleted, revoked or withheld."""
        return [id for id, pin in self._secret_pins().items() if not pin.get("deleted") and id not in self._rows]

    def list(self) -> List[SecretSummary]:
        """The secrets that the caller can read, by name."""
        self._assert_open()
        return sorted((self._summary(row) for row in self._rows.values()), key=lambda one: (one.name, one.id))

    def get(self, reference: str) -> Secret:
        """One secret by its id or its encrypted name. Raises `secret_not_found` or `name_ambiguous`."""
        return self._opened(self._find(reference))

    def create(
        self, type: str, name: str, payload: Mapping[str, Any], *, description: str | None = None
    ) -> SecretSummary:
        """Encrypts and stores a secret. Raises `payload_invalid`, `payload_too_large` or `secret_name_taken`."""
        crypto.check_payload(type, payload)
        self._assert_free(name)
        id = crypto.new_id("vsec")
        body = {
            "id": id,
            "type": type,
            "name": name,
            "encrypted_payload": self._seal(payload, id, type, name, 1),
            "key_version": self._claim["key_version"],
            "description": description,
        }
        return self._keep(self._connection.request(Request("POST", "/vault/secrets", body=body, is_keyed=True)), id)

    def update(
        self, reference: str, *, payload: Mapping[str, Any] | None = None, name: str | None = None
    ) -> SecretSummary:
        """Changes a secret. Members of `payload` replace those of the same name, and None removes one.

        ApiError `vault_secret_conflict` means that it has changed since it was read. Refresh and try again.
        """
        row = self._find(reference)
        old = self._opened(row)
        if not old.is_bound and name is None:
            raise VaultError("name_not_verified", f"The name of {old.id} is unverified. Give the name with the change.")
        called = name if name is not None else old.name
        if called != old.name:
            self._assert_free(called)
        merged = {key: value for key, value in {**old.payload, **(payload or {})}.items() if value is not None}
        if payload is not None:
            crypto.check_payload(old.type, merged)
        pin = self._secret_pins().get(old.id, {"rev": 0})
        revision = max(int(row["revision"]), old.revision, int(pin["rev"])) + 1
        body = {
            "name": called,
            "encrypted_payload": self._seal(merged, old.id, old.type, called, revision),
            "revision": row["revision"],
            "key_version": self._claim["key_version"],
        }
        return self._keep(
            self._connection.request(Request("PATCH", f"/vault/secrets/{segment(old.id)}", body=body)), old.id
        )

    def delete(self, reference: str) -> None:
        """Deletes a secret with its grants."""
        id = str(self._find(reference)["id"])
        self._connection.request(Request("DELETE", f"/vault/secrets/{segment(id)}"))
        del self._rows[id]
        self._pin({id: {"rev": 0, "bound": False, "deleted": True}})

    def grant(self, reference: str, agent_handle: str) -> Document:
        """Lets the key of an agent read a secret."""
        path = f"/vault/secrets/{segment(str(self._find(reference)['id']))}/access"
        grant: Document = self._connection.request(
            Request("POST", path, body={"agent_handle": agent_handle}, is_keyed=True)
        )
        return grant

    def revoke(self, reference: str, agent_handle: str) -> None:
        """Revokes a grant. The agent keeps any value that it has read, so change the secret itself."""
        id = segment(str(self._find(reference)["id"]))
        self._connection.request(Request("DELETE", f"/vault/secrets/{id}/access/{segment(agent_handle)}"))

    def totp(self, reference: str) -> str:
        """The one-time password of a login secret, now. Raises `totp_invalid` if it has none."""
        secret = self.get(reference).payload.get("totp")
        if not isinstance(secret, str):
            raise VaultError("totp_invalid", "The secret does not have a totp member.")
        return crypto.totp_code(secret)

    def refresh(self) -> None:
        """Reloads the secrets from the server."""
        self._assert_open()
        page = lambda cursor=None: self._connection.request(  # noqa: E731
            Request[Any]("GET", "/vault/secrets", query={"limit": 100, "cursor": cursor})
        )
        self._load(_rows(list(every_item(page))))

    def lock(self) -> None:
        """Forgets the key and the ciphertext. Python cannot erase memory: end the process to be sure."""
        self._key = None
        self._rows = {}

    def _load(self, rows: List[Document]) -> None:
        self._rows = {str(row["id"]): row for row in rows}
        pins = self._secret_pins()
        seen: dict[str, Document] = {}
        for id, row in self._rows.items():
            try:
                opened = self._opened(row)
            except VaultError:
                continue
            if id not in pins or opened.revision > pins[id]["rev"]:
                seen[id] = {"rev": opened.revision, "bound": opened.is_bound}
        self._pin(seen)

    def _keep(self, reply: Any, id: str) -> SecretSummary:
        """Accepts the server's answer to a change, which must contain the data that was sent."""
        row = _row(reply)
        if row["id"] != id:
            raise VaultError("reply_unusable", "The server answered with another secret than the changed one.")
        opened = self._opened(row)
        self._rows[id] = row
        self._pin({id: {"rev": opened.revision, "bound": opened.is_bound}})
        return self._summary(row)

    def _opened(self, row: Document) -> Secret:
        """Decrypts and checks against context and pin. `revision` is that of the context, 0 without one."""
        id = str(row["id"])
        pin = self._secret_pins().get(id)
        if pin and pin.get("deleted"):
            raise VaultError("secret_rolled_back", f"Secret {id} was deleted, but the server returned it again.")
        plaintext = crypto.open_blob(self._assert_open(), row["encrypted_payload"], f"Secret {id}")
        payload, context = crypto.read_plaintext(plaintext)
        if context is None:
            if pin and pin["bound"]:
                raise VaultError("context_missing", f"Secret {id} is not bound to its place, and was before.")
            return Secret(id, row["type"], row["name"], False, row["description"], 0, payload)
        claim = self._claim
        expected = {
            "org": claim["organization"],
            "vault": claim["vault"],
            "id": id,
            "type": row["type"],
            "kv": claim["key_version"],
        }
        for name, value in expected.items():
            if context[name] != value:
                raise VaultError("context_mismatch", f"Secret {id} was encrypted for another {name}.")
        if pin and context["rev"] < pin["rev"]:
            raise VaultError(
                "secret_rolled_back", f"Secret {id} has revision {context['rev']}, but {pin['rev']} was seen before."
            )
        return Secret(id, context["type"], context["name"], True, row["description"], context["rev"], payload)

    def _seal(self, payload: Mapping[str, Any], id: str, type: str, name: str, revision: int) -> str:
        if revision > crypto.COUNT_MAX or self._claim["key_version"] > crypto.COUNT_MAX:
            raise VaultError("revision_unusable", f"Secret {id} would get a revision above {crypto.COUNT_MAX}.")
        claim = self._claim
        context = {
            "v": 1,
            "org": claim["organization"],
            "vault": claim["vault"],
            "id": id,
            "type": type,
            "name": name,
            "kv": claim["key_version"],
            "rev": revision,
        }
        plaintext = crypto.write_plaintext(payload, context)
        if len(plaintext) + 30 > crypto.PAYLOAD_BYTES_MAX:
            raise VaultError("payload_too_large", f"The payload has {len(plaintext)} bytes with its context.")
        return crypto.seal_blob(self._assert_open(), plaintext)

    def _summary(self, row: Document) -> SecretSummary:
        try:
            secret = self._opened(row)
        except VaultError as problem:
            return SecretSummary(
                row["id"], row["type"], row["name"], False, row["description"], row["revision"], problem
            )
        return SecretSummary(
            secret.id, secret.type, secret.name, secret.is_bound, row["description"], row["revision"]
        )

    def _find(self, reference: str) -> Document:
        """By id or encrypted name, never by a name that only the server asserts."""
        self._assert_open()
        if reference in self._rows:
            return self._rows[reference]
        named = [one for one in self.list() if one.is_bound and one.name == reference]
        if len(named) > 1:
            raise VaultError("name_ambiguous", f'{len(named)} secrets are called "{reference}". Use an id.')
        if not named:
            raise VaultError(
                "secret_not_found", f'The secret "{reference}" does not exist, or this key cannot read it.'
            )
        return self._rows[named[0].id]

    def _assert_free(self, name: str) -> None:
        if any(one.is_bound and one.name == name for one in self.list()):
            raise VaultError("secret_name_taken", f'A secret called "{name}" exists already. Choose another name.')

    def _assert_open(self) -> bytes:
        if self._key is None:
            raise VaultError("vault_locked", "The vault is locked.")
        return self._key

    def _secret_pins(self) -> Document:
        document = self._pins.read(self._connection.settings.url)
        pins = document["vaults"].get(self.id) if document else None
        found: Document = pins["secrets"] if pins else {}
        return found

    def _pin(self, seen: dict[str, Document]) -> None:
        if seen:
            self._pins.update(self._connection.settings.url, lambda old: pin_secrets(old, self.id, seen))


def _wrap(secret: bytes, kdf: crypto.Kdf, organization_key: bytes) -> Document:
    master = crypto.derive_master(secret, kdf)
    return {"auth_hash": crypto.auth_hash(master), "wrapped_org_key": crypto.seal_blob(master, organization_key)}


def _claim_of(reply: Document) -> tuple[Document, crypto.Kdf]:
    """The server's claim about the vault, with parameters checked before any use."""
    kdf = crypto.check_kdf(reply.get("kdf_params"), reply.get("kdf_salt"))
    if not isinstance(reply.get("id"), str) or not isinstance(reply.get("organization_id"), str):
        raise _unusable("id")
    claim = {
        "vault": reply["id"],
        "organization": reply["organization_id"],
        "salt": kdf.salt_text,
        "kdf": kdf.params,
        "key_version": _count(reply.get("key_version")),
    }
    return claim, kdf


def _rows(value: Any) -> List[Document]:
    if not isinstance(value, list) or len(value) > 100_000:
        raise _unusable("secrets")
    rows = [_row(one) for one in value]
    if len({row["id"] for row in rows}) != len(rows):
        raise _unusable("secrets")
    return rows


def _row(value: Any) -> Document:
    texts = ("id", "type", "name", "encrypted_payload")
    if not isinstance(value, dict) or not all(isinstance(value.get(name), str) for name in texts):
        raise _unusable("secret")
    _count(value.get("revision"))
    return {**value, "description": value.get("description")}


def _count(value: Any) -> int:
    if type(value) is not int or not 1 <= value < 2**53:
        raise _unusable("version")
    return value


def _unusable(what: str) -> VaultError:
    return VaultError("reply_unusable", f"The server's answer about the vault does not have a usable {what}.")
