"""Makes the calls of the table with the Python client and prints their results as JSON lines.

Reads {"url", "api_key", "calls", "is_async"} from standard input. Values that a call saves stay in here.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import keyword
import re
import sys
from typing import Any

from callsign import ApiError, AsyncCallsign, Callsign


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def place(value: Any, at: str) -> Any:
    for part in at.split("."):
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else {}
        else:
            value = value.get(part)
    return value


def filled(value: Any, saved: dict[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith("$"):
        return saved[value[1:]]
    if isinstance(value, list):
        return [filled(item, saved) for item in value]
    if isinstance(value, dict):
        return {name: filled(item, saved) for name, item in value.items()}
    return value


async def result_of(client: Any, call: dict[str, Any], saved: dict[str, Any]) -> Any:
    method = client
    for part in call["call"].split("."):
        method = getattr(method, snake(part))
    while True:
        try:
            # `from` is a keyword of Python, so its argument is `from_`.
            given = filled(call.get("args", {}), saved).items()
            named = {f"{name}_" if keyword.iskeyword(name) else name: value for name, value in given}
            reply = method(*filled(call.get("path", []), saved), **named)
            if inspect.isawaitable(reply):
                reply = await reply
        except ApiError as error:
            return {"error": {"status": error.status, "code": error.code, "message": error.message}}
        until = call.get("until")
        if until is None or place(reply, until["at"]) == until["is"]:
            break
        await asyncio.sleep(0.02)
    for name, at in call.get("save", {}).items():
        saved[name] = place(reply, at)
    return {"bytes": base64.b64encode(reply).decode()} if isinstance(reply, bytes) else {"reply": reply}


async def main() -> None:
    task = json.load(sys.stdin)
    saved: dict[str, Any] = {}
    client: Any = (AsyncCallsign if task["is_async"] else Callsign)(task["url"], task["api_key"])
    for call in task["calls"]:
        print(json.dumps(await result_of(client, call, saved)), flush=True)
    closed = client.close()
    if inspect.isawaitable(closed):
        await closed


asyncio.run(main())
