"""Parts of the event stream that both clients share."""

from __future__ import annotations

import json
import random
from typing import Any, Mapping

#: The idle timeout of a stream in seconds. The server sends at least one line every 15 seconds.
SILENCE_MAX = 45.0
RECONNECT_FIRST = 0.25
RECONNECT_MAX = 10.0


def reconnect_pause(failures: int) -> float:
    """Seconds until the next connection, after this many failures in a row."""
    return min(RECONNECT_MAX, RECONNECT_FIRST * 2.0**failures) * (0.5 + random.random() / 2)


class Blocks:
    """Collects the lines of a server-sent stream into events."""

    def __init__(self) -> None:
        self._fields: dict[str, str] = {}

    def add(self, line: bytes) -> tuple[str, Mapping[str, Any] | None, str | None] | None:
        """After the last line of a block: its id, its event and the lost event of a reset.

        The event is None in a reset and in the block that starts a stream.
        """
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text:
            name, separator, value = text.partition(": ")
            if separator:
                self._fields[name] = value
            return None
        fields, self._fields = self._fields, {}
        if "data" in fields:
            event = json.loads(fields["data"])
            if "cursor" in event:
                return str(event["cursor"]), None, event.get("lost")
            return str(event["id"]), event, None
        return (fields["id"], None, None) if "id" in fields else None
