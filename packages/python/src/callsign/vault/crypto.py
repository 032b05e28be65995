"""The vault format, version 1, of docs/vault.md: key derivation, blobs, payloads and one-time passwords."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
import struct
import time
import unicodedata
import uuid
from dataclasses import dataclass
from typing import Any, Mapping
from urllib.parse import parse_qs, urlsplit

from ..errors import VaultError

#: Bounds of the key derivation: memory in KiB, passes and lanes. The server chooses within them.
KDF_FLOOR = {"m": 19_456, "t": 2, "p": 1}
KDF_CEILING = {"m": 1_048_576, "t": 16, "p": 16}
KDF_DEFAULT = {"algorithm": "argon2id", "m": 65_536, "t": 3, "p": 1}
PAYLOAD_BYTES_MAX = 65_536
_HEADER = b"\x01\x01"
_IV_BYTES = 12
_TAG_BYTES = 16
_PAD = 64
#: The largest revision and key version that a server stores.
COUNT_MAX = 2**31 - 1

#: Members of each type of secret: required and optional. All of them are text.
MEMBERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "login": (("username", "password"), ("url", "totp", "notes")),
    "api_key": (("api_key",), ("endpoint", "notes")),
    "key_pair": (("access_key", "secret_key"), ("endpoint", "notes")),
    "ssh_key": (("private_key",), ("public_key", "fingerprint", "passphrase", "notes")),
    "other": (("data",), ("notes",)),
}


@dataclass(frozen=True)
class Kdf:
    """Checked parameters and salt. `salt_text` is base64."""

    m: int
    t: int
    p: int
    salt: bytes
    salt_text: str

    @property
    def params(self) -> dict[str, Any]:
        return {"algorithm": "argon2id", "m": self.m, "t": self.t, "p": self.p}


def check_kdf(params: Any, salt: Any) -> Kdf:
    """Checks what the server asks for, before anything is derived or sent.

    Weak parameters would make it cheap to guess the key from its hash, and huge ones would exhaust
    the machine. Raises `kdf_params_unusable`, `kdf_params_too_weak` or `kdf_params_too_costly`.
    """
    values = params if isinstance(params, Mapping) else {}
    counts = {name: values.get(name) for name in ("m", "t", "p")}
    if values.get("algorithm") != "argon2id" or any(
        type(value) is not int or value < 0 for value in counts.values()
    ):
        raise VaultError("kdf_params_unusable", "The key derivation is not Argon2id with whole numbers m, t and p.")
    m, t, p = (int(value) for value in counts.values() if value is not None)
    if m < KDF_FLOOR["m"] or t < KDF_FLOOR["t"] or p < KDF_FLOOR["p"]:
        raise VaultError("kdf_params_too_weak", f"The key derivation is too weak (m {m} KiB, t {t}, p {p}).")
    if m > KDF_CEILING["m"] or t > KDF_CEILING["t"] or p > KDF_CEILING["p"]:
        raise VaultError("kdf_params_too_costly", f"The key derivation is too costly (m {m} KiB, t {t}, p {p}).")
    try:
        raw = _from_base64(salt, 64)
    except ValueError:
        raise VaultError("kdf_params_unusable", "The salt is not strict base64 of 16 to 64 bytes.") from None
    if len(raw) < 16:
        raise VaultError("kdf_params_too_weak", f"The salt has {len(raw)} bytes. The minimum is 16.")
    return Kdf(m, t, p, raw, str(salt))


def new_kdf(params: Mapping[str, Any] = KDF_DEFAULT) -> Kdf:
    """The parameters with a new random salt, never weaker than the defaults."""
    stronger = {name: max(int(params[name]), int(str(KDF_DEFAULT[name]))) for name in ("m", "t", "p")}
    return check_kdf({"algorithm": "argon2id", **stronger}, base64.b64encode(secrets.token_bytes(16)).decode())


def derive_master(secret: bytes, kdf: Kdf) -> bytes:
    """The master key: Argon2id version 1.3 of RFC 9106, 32 bytes."""
    try:
        from argon2.low_level import Type, hash_secret_raw
    except ImportError as error:
        raise VaultError("cryptography_unavailable", 'Install the vault extra: pip install "callsign[vault]".') from error
    return hash_secret_raw(secret, kdf.salt, kdf.t, kdf.m, kdf.p, 32, Type.ID)


def auth_hash(master: bytes) -> str:
    """The proof for the server: SHA-256 of the master key in lower-case hexadecimal."""
    return hashlib.sha256(master).hexdigest()


def fingerprint_of(organization_key: bytes) -> str:
    """Sixteen hexadecimal digits, equal for all holders of the key. HKDF of RFC 5869 with an empty salt."""
    extracted = hmac.new(bytes(32), organization_key, hashlib.sha256).digest()
    return hmac.new(extracted, b"callsign/vault/v1/fingerprint\x01", hashlib.sha256).digest()[:8].hex()


def seal_blob(key: bytes, plaintext: bytes, iv: bytes | None = None) -> str:
    """AES-256-GCM as base64 of version, algorithm, iv, ciphertext and tag. `iv` is random except in tests."""
    nonce = iv or secrets.token_bytes(_IV_BYTES)
    return base64.b64encode(_HEADER + nonce + _aes(key).encrypt(nonce, plaintext, None)).decode()


def open_blob(key: bytes, text: Any, what: str, bytes_max: int = PAYLOAD_BYTES_MAX) -> bytes:
    """Raises `blob_malformed`, `blob_version_unknown` or `blob_rejected`."""
    try:
        blob = _from_base64(text, bytes_max)
    except ValueError:
        raise VaultError("blob_malformed", f"{what} is not strict base64 of at most {bytes_max} bytes.") from None
    if len(blob) < 2 + _IV_BYTES + _TAG_BYTES:
        raise VaultError("blob_malformed", f"{what} is too short to be a blob.")
    if blob[:2] != _HEADER:
        raise VaultError("blob_version_unknown", f"{what} has version {blob[0]} and algorithm {blob[1]}.")
    from cryptography.exceptions import InvalidTag

    try:
        return bytes(_aes(key).decrypt(blob[2 : 2 + _IV_BYTES], blob[2 + _IV_BYTES :], None))
    except InvalidTag:
        raise VaultError(
            "blob_rejected", f"{what} does not decrypt. It was changed, or created with another key."
        ) from None


def unwrap_key(master: bytes, wrapped: Any) -> bytes:
    """The organization key. Raises `wrapped_key_rejected` for every defect."""
    try:
        key = open_blob(master, wrapped, "The wrapped key", 128)
    except VaultError as error:
        if error.code == "cryptography_unavailable":
            raise
        raise _rejected() from error
    if len(key) != 32:
        raise _rejected()
    return key


def _rejected() -> VaultError:
    return VaultError("wrapped_key_rejected", "The wrapped key from the server does not open with this vault key.")


def _aes(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise VaultError("cryptography_unavailable", 'Install the vault extra: pip install "callsign[vault]".') from error
    return AESGCM(key)


def _from_base64(text: Any, bytes_max: int) -> bytes:
    """Strict base64: padded, without other characters, and in its only form."""
    if not isinstance(text, str) or len(text) > (bytes_max + 2) // 3 * 4 or len(text) % 4 != 0:
        raise ValueError("not base64")
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
    if len(raw) > bytes_max or base64.b64encode(raw).decode() != text:
        raise ValueError("not base64")
    return raw


def check_payload(kind: str, payload: Mapping[str, Any]) -> None:
    """Raises `payload_invalid` if the payload lacks a member of its type or uses a reserved name."""
    if kind not in MEMBERS:
        raise VaultError("payload_invalid", f"{kind} is not a secret type.")
    required, optional = MEMBERS[kind]
    for name in required:
        if not isinstance(payload.get(name), str):
            raise VaultError("payload_invalid", f"A secret of type {kind} needs {name}, as text.")
    for name in optional:
        if name in payload and not isinstance(payload[name], str):
            raise VaultError("payload_invalid", f"{name} must be text.")
    if "$ctx" in payload or "$pad" in payload:
        raise VaultError("payload_invalid", "The names $ctx and $pad are reserved. Rename these members.")


def write_plaintext(payload: Mapping[str, Any], context: Mapping[str, Any] | None) -> bytes:
    """The payload with its context and a pad, so that the length of a password does not show."""
    members = {name: value for name, value in payload.items() if name not in ("$ctx", "$pad")}
    if context is None:
        return _json(members)
    bare = len(_json({**members, "$ctx": context, "$pad": ""}))
    return _json({**members, "$ctx": context, "$pad": " " * (-bare % _PAD)})


def read_plaintext(plaintext: bytes) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The payload and its context. Raises `payload_invalid`, or `context_mismatch` for an unknown context."""
    try:
        value = json.loads(plaintext.decode())
    except ValueError:
        raise VaultError("payload_invalid", "The decrypted payload is not JSON.") from None
    if not isinstance(value, dict):
        raise VaultError("payload_invalid", "The decrypted payload is not a JSON object.")
    context = value.pop("$ctx", None)
    value.pop("$pad", None)
    if context is not None and not _is_context(context):
        raise VaultError("context_mismatch", "The context inside the payload has an unknown form.")
    return value, context


def _is_context(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("v")) is int
        and value["v"] == 1
        and all(isinstance(value.get(name), str) for name in ("org", "vault", "id", "type", "name"))
        and all(type(value.get(name)) is int and 1 <= value[name] < 2**53 for name in ("kv", "rev"))
    )


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def generate_vault_key() -> str:
    """160 random bits as four groups of eight characters."""
    return "-".join("".join(secrets.choice(_SYMBOLS) for _ in range(8)) for _ in range(4))


def generate_recovery_code() -> str:
    """160 random bits as eight groups of four characters."""
    return "-".join("".join(secrets.choice(_SYMBOLS) for _ in range(4)) for _ in range(8))


def vault_key_bytes(key: str) -> bytes:
    """The bytes of a vault key for deriving, never normalized. Raises `vault_key_unsuitable`."""
    try:
        raw = key.encode()
    except UnicodeEncodeError:
        raise VaultError("vault_key_unsuitable", "The vault key is not valid Unicode.") from None
    if not raw or len(raw) > 1024:
        raise VaultError("vault_key_unsuitable", "The vault key must have 1 to 1024 bytes.")
    return raw


def new_vault_key_bytes(key: str) -> bytes:
    """The bytes of a key that is about to be set. Another keyboard must be able to type it."""
    raw = vault_key_bytes(key)
    if unicodedata.normalize("NFKC", key) != key:
        raise VaultError("vault_key_unsuitable", "The vault key changes under Unicode normalization (NFKC).")
    if any(unicodedata.category(character) == "Cc" for character in key):
        raise VaultError("vault_key_unsuitable", "The vault key holds control characters.")
    if len(key) < 16:
        raise VaultError("vault_key_unsuitable", "The vault key has fewer than 16 characters.")
    return raw


def new_id(prefix: str) -> str:
    """A type prefix and a UUID version 7 (RFC 9562, section 5.7) in 26 characters of base32."""
    value = (int(time.time() * 1000) << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62) | secrets.randbits(62)
    number = uuid.UUID(int=value).int
    return f"{prefix}_" + "".join(_SYMBOLS[(number >> shift) & 31].lower() for shift in range(125, -1, -5))


#: The digits of Steam Guard, whose codes have five of them, written from the last to the first.
STEAM_DIGITS = "23456789BCDFGHJKMNPQRTVWXY"


def totp_code(text: str, now: float | None = None) -> str:
    """The one-time password of RFC 6238 from a base32 secret or an otpauth address. Raises `totp_invalid`.

    Password managers write secrets of Steam as `encoder=steam`, `otpauth://steam/…` or `steam://SECRET`.
    """
    fields: dict[str, str] = {"secret": text.strip()}
    scheme, separator, rest = fields["secret"].partition("://")
    if separator and scheme.lower() == "steam":
        fields = {"secret": rest, "encoder": "steam"}
    elif scheme.lower().startswith("otpauth"):
        kind = re.match(r"otpauth://(totp|steam)(/|\?|$)", fields["secret"], re.IGNORECASE)
        if not kind:
            raise VaultError("totp_invalid", "The one-time password secret is not of type totp.")
        fields = {name: values[0] for name, values in parse_qs(urlsplit(fields["secret"]).query).items()}
        if kind[1].lower() == "steam":
            fields["encoder"] = "steam"
    encoder = fields.get("encoder", "").lower()
    if encoder not in ("", "steam"):
        raise VaultError("totp_invalid", "The one-time password secret has an unknown encoder.")
    digest = "sha1" if encoder else fields.get("algorithm", "SHA1").lower().replace("-", "")
    digits, period = _count(fields, "digits", 6, 5, 10), _count(fields, "period", 30, 1, 3600)
    if digest not in ("sha1", "sha256", "sha512"):
        raise VaultError("totp_invalid", "The one-time password secret has an unknown algorithm.")
    counter = struct.pack(">Q", int(time.time() if now is None else now) // period)
    mac = hmac.new(_from_base32(fields.get("secret", "")), counter, digest).digest()
    offset = mac[-1] & 15
    number: int = struct.unpack(">I", mac[offset : offset + 4])[0] & 0x7FFFFFFF
    if not encoder:
        return str(number % 10**digits).zfill(digits)
    return "".join(STEAM_DIGITS[number // len(STEAM_DIGITS) ** place % len(STEAM_DIGITS)] for place in range(5))


def _count(fields: Mapping[str, str], name: str, usual: int, least: int, most: int) -> int:
    text = fields.get(name, str(usual))
    value = int(text) if re.fullmatch(r"[0-9]{1,5}", text) else -1
    if not least <= value <= most:
        raise VaultError("totp_invalid", f"The one-time password secret has an impossible {name}.")
    return value


def _from_base32(text: str) -> bytes:
    symbols = re.sub(r"[\s-]", "", text).upper().rstrip("=")
    try:
        # Incomplete groups of authenticator apps: bits beyond the last whole byte are dropped.
        whole = symbols + "A" * (-len(symbols) % 8)
        raw = base64.b32decode(whole)[: len(symbols) * 5 // 8]
    except binascii.Error:
        raise VaultError("totp_invalid", "The one-time password secret is not base32.") from None
    if not 0 < len(raw) <= 256:
        raise VaultError("totp_invalid", "The one-time password secret has an impossible length.")
    return raw
