"""The zero-knowledge vault. Needs the extra: `pip install "callsign[vault]"`."""

from .client import NewVault, Secret, SecretSummary, UnlockedVault, Vault
from .crypto import generate_recovery_code, generate_vault_key, totp_code
from .pins import FilePins, MemoryPins, PinStore

__all__ = [
    "FilePins",
    "MemoryPins",
    "NewVault",
    "PinStore",
    "Secret",
    "SecretSummary",
    "UnlockedVault",
    "Vault",
    "generate_recovery_code",
    "generate_vault_key",
    "totp_code",
]
