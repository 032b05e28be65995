"""Checks the vault against the vectors of docs/vault-vectors.json and, with a server, against the TypeScript client.

usage: check_vault.py VECTORS [URL API_KEY VAULT_KEY]
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable

from callsign import Callsign, VaultError
from callsign.vault import MemoryPins, UnlockedVault, crypto


def check_vectors(vectors: dict[str, Any]) -> int:
    count = 0
    for one in vectors["kdf"]:
        kdf = crypto.check_kdf(one["kdf_params"], one["kdf_salt"])
        master = crypto.derive_master(crypto.vault_key_bytes(one["vault_key"]), kdf)
        assert master.hex() == one["master_key"]
        assert crypto.auth_hash(master) == one["auth_hash"]
        organization_key = bytes.fromhex(one["org_key"])
        assert crypto.seal_blob(master, organization_key, bytes.fromhex(one["iv"])) == one["wrapped_org_key"]
        assert crypto.unwrap_key(master, one["wrapped_org_key"]) == organization_key
        count += 1
    key = bytes.fromhex(vectors["org_key"])
    assert crypto.fingerprint_of(key) == vectors["fingerprint"]
    for one in vectors["secrets"]:
        plaintext = crypto.open_blob(key, one["encrypted_payload"], "The secret")
        assert plaintext.decode() == one["plaintext"]
        payload, context = crypto.read_plaintext(plaintext)
        assert (payload, context) == (one["payload"], one.get("context"))
        assert crypto.write_plaintext(payload, context) == plaintext
        assert crypto.seal_blob(key, plaintext, bytes.fromhex(one["iv"])) == one["encrypted_payload"]
        count += 1
    invalid = vectors["invalid"]
    first = vectors["kdf"][0]
    for one in invalid["blobs"]:
        count += refuses(one["error"], lambda: crypto.open_blob(key, one["blob"], "The blob"))
    for one in invalid["kdf_params"]:
        count += refuses(one["error"], lambda: crypto.check_kdf(one["kdf_params"], first["kdf_salt"]))
    for one in invalid["kdf_salts"]:
        count += refuses(one["error"], lambda: crypto.check_kdf(first["kdf_params"], one["kdf_salt"]))
    for one in invalid["vault_keys"]:
        count += refuses("vault_key_unsuitable", lambda: crypto.new_vault_key_bytes(one["vault_key"]))
    good = vectors["secrets"][0]
    for one in invalid["contexts"]:
        shown = {**good["context"], **one["presented"]}
        opened = opening(shown, good["encrypted_payload"], key, one.get("pinned"))
        if "error" in one:
            count += refuses(one["error"], opened)
        else:
            assert opened().name == good["context"]["name"]
            count += 1
    unbound = opening(good["context"], invalid["unbound_payload"], key, None)
    assert not unbound().is_bound
    bound_before = {"rev": 1, "bound": True}
    count += refuses("context_missing", opening(good["context"], invalid["unbound_payload"], key, bound_before))
    # The table of RFC 6238, appendix B.
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for now, code in ((59, "94287082"), (1111111109, "07081804"), (20000000000, "65353130")):
        assert crypto.totp_code(f"otpauth://totp/x?secret={secret}&digits=8", now) == code
        count += 1
    return count


def refuses(code: str, work: Callable[[], Any]) -> int:
    try:
        work()
    except VaultError as error:
        assert error.code == code, (error.code, code)
        return 1
    raise AssertionError(f"{code} was not raised")


def opening(shown: dict[str, Any], blob: str, key: bytes, pinned: Any) -> Callable[[], Any]:
    """A function that opens a secret as the server presents it."""
    claim = {"vault": shown["vault"], "organization": shown["org"], "key_version": shown["kv"]}
    pins = MemoryPins()
    secrets = {} if pinned is None else {shown["id"]: pinned}
    pins.update("http://x", lambda _: {"version": 1, "keys": {}, "vaults": {shown["vault"]: {"secrets": secrets}}})
    vault = UnlockedVault(Callsign("http://x", "key")._connection, pins, claim, key)
    row = {"id": shown["id"], "type": shown["type"], "name": shown["name"], "description": None}
    return lambda: vault._opened({**row, "encrypted_payload": blob, "revision": shown["rev"]})


def check_server(url: str, api_key: str, vault_key: str) -> None:
    """Reads what the TypeScript client stored, and stores what it reads afterwards."""
    pins = MemoryPins()
    client = Callsign(url, api_key, vault_pins=pins)
    refuses("wrong_vault_key", lambda: client.vault.unlock("this is not the vault key"))
    vault = client.vault.unlock(vault_key)
    assert vault.get("from typescript").payload == {"data": "æ 金庫", "notes": "one"}
    vault.create("login", "from python", {"username": "ada", "password": "correct horse ø"})
    vault.update("from python", payload={"notes": "changed"})
    vault.grant("from python", "sales")
    vault.create("other", "gone", {"data": "x"})
    vault.delete("gone")
    vault.refresh()
    assert [one.name for one in vault.list()] == ["from python", "from typescript"]
    refuses("secret_name_taken", lambda: vault.create("other", "from python", {"data": "x"}))
    # A secret that the server swaps, renames or rolls back is refused.
    first, second = vault._rows.values()
    swapped = {**first, "encrypted_payload": second["encrypted_payload"]}
    refuses("context_mismatch", lambda: vault._opened(swapped))
    refuses("context_mismatch", lambda: vault._opened({**first, "type": "api_key"}))
    document = pins.read(url)
    assert document is not None
    document["vaults"][vault.id]["state"]["keyVersion"] = 2
    refuses("vault_rolled_back", lambda: client.vault.unlock(vault_key))
    vault.lock()


with open(sys.argv[1], encoding="utf-8") as stream:
    print(check_vectors(json.load(stream)), "vectors")
if len(sys.argv) > 2:
    check_server(*sys.argv[2:5])
    print("server")
