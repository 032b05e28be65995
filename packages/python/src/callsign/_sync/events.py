"""The event stream, which resumes after a lost connection."""

from __future__ import annotations

import time
from typing import Iterator, Callable, List, cast

from .._request import error_of, query_text
from .._stream import SILENCE_MAX, Blocks, reconnect_pause
from ..errors import ApiError, CallsignError
from ..models import Event
from .connection import Connection


class EventStream:
    """The base of the events resource."""

    _connection: Connection

    def follow(
        self,
        *,
        agent: str | None = None,
        types: str | List[str] | None = None,
        after: str | None = None,
        on_start: Callable[[str], None] | None = None,
        on_reset: Callable[[str, str], None] | None = None,
    ) -> Iterator[Event]:
        """Yields events as they arrive, each once and in order except after a reset, and reconnects after the last one.

        Without `after` the stream starts with new events, and `on_start` gets the id to use as `after`
        for the same starting point. `on_reset` is called with the last event that you had and the new
        starting point when the server has lost events in a failover or a restore. The stream continues
        with everything since then, so that some events may come again. Read your objects again, because
        those of lost events do not exist any more. Raises ApiError on permanent refusals, such as a
        revoked key. An event is acknowledged when you ask for the next one.
        """
        failures = 0
        while True:
            try:
                for id, event, lost in self._read(agent, types, after):
                    if lost is not None:
                        if on_reset is not None:
                            on_reset(lost, id)
                        after = id
                        continue
                    if event is None:
                        if after is None and on_start is not None:
                            on_start(id)
                        after = after or id
                        continue
                    failures = 0
                    yield event
                    after = id
            except CallsignError as error:
                if isinstance(error, ApiError) and error.status < 500 and error.status != 429:
                    raise
                failures += 1
            time.sleep(reconnect_pause(failures))

    def _read(
        self, agent: str | None, types: str | List[str] | None, after: str | None
    ) -> Iterator[tuple[str, Event | None, str | None]]:
        settings = self._connection.settings
        query = query_text({"agent": agent, "types": types, "after": after})
        stream = self._connection.transport.open(
            f"{settings.url}/api/v1/events/stream{query}",
            settings.headers("text/event-stream"),
            settings.timeout,
            SILENCE_MAX,
        )
        try:
            if stream.reply.status != 200:
                raise error_of(stream.reply)
            blocks = Blocks()
            for line in stream.lines():
                block = blocks.add(line)
                if block is not None:
                    yield block[0], cast("Event | None", block[1]), block[2]
        finally:
            stream.close()
