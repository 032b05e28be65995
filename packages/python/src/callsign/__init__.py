"""The Python client of Callsign: communication identities for AI agents, self-hosted."""

from ._async.client import AsyncCallsign
from ._mcp import Tool, ToolResult
from ._request import UNSET
from ._sync.client import Callsign
from .errors import ApiError, CallsignError, ConnectionError, InvalidSignature, VaultError
from .pages import every_item, every_item_async
from .webhooks import sign_webhook, verify_webhook

__all__ = [
    "UNSET",
    "ApiError",
    "AsyncCallsign",
    "Callsign",
    "CallsignError",
    "ConnectionError",
    "InvalidSignature",
    "Tool",
    "ToolResult",
    "VaultError",
    "every_item",
    "every_item_async",
    "sign_webhook",
    "verify_webhook",
]

__version__ = "0.1.0"
