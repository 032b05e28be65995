"""Binds the calls of examples to the methods of the Python client. Prints each call that does not fit.

Reads [{"id", "source"}] from standard input.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from typing import Any

from callsign import Callsign
from callsign.vault.client import UnlockedVault

client = Callsign("http://localhost:1", "svc_live_none")


def method_of(node: ast.expr) -> Any:
    """The method that an expression such as callsign.mail.send names."""
    if isinstance(node, ast.Name):
        return {"callsign": client, "vault": UnlockedVault}.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(method_of(node.value), node.attr)
    return None


for sample in json.load(sys.stdin):
    calls = 0
    for node in ast.walk(ast.parse(sample["source"])):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        calls += 1
        try:
            method = method_of(node.func)
            is_unbound = inspect.isfunction(method)
            positional = [None] * (len(node.args) + is_unbound)
            inspect.signature(method).bind(*positional, **{one.arg: None for one in node.keywords if one.arg})
        except (AttributeError, TypeError) as error:
            print(sample["id"], error)
    if calls == 0:
        print(sample["id"], "has no call")
