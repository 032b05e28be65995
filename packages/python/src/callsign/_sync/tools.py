"""Tools for agents, run by the server's MCP endpoint."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping

from .._mcp import Tool, ToolResult, answer_of, attempt_for, result_of, to_anthropic, to_openai, tools_of
from .connection import Connection


class Tools:
    """The tools that the key may use. The text of strangers comes inside a fence."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, toolsets: str | None = None, read_only: bool = False) -> List[Tool]:
        """The tools, narrowed to `toolsets` such as `mail,events`, or to those that change nothing."""
        answer = self._call("tools/list", {}, toolsets=toolsets, read_only=read_only)
        return tools_of(answer)

    def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Runs a tool. A failure has `is_error`, and its reason in `text`."""
        answer = self._call("tools/call", {"name": name, "arguments": dict(arguments or {})})
        return result_of(answer)

    def to_anthropic(self, *, toolsets: str | None = None, read_only: bool = False) -> List[Dict[str, Any]]:
        """The tools in the form of the Messages API of Anthropic."""
        return to_anthropic(self.list(toolsets=toolsets, read_only=read_only))

    def to_openai(self, *, toolsets: str | None = None, read_only: bool = False) -> List[Dict[str, Any]]:
        """The tools in the form of the Chat Completions API of OpenAI."""
        return to_openai(self.list(toolsets=toolsets, read_only=read_only))

    def _call(
        self, method: str, params: Mapping[str, Any], *, toolsets: str | None = None, read_only: bool = False
    ) -> Mapping[str, Any]:
        attempt = attempt_for(self._connection.settings, method, params, toolsets, read_only)
        return answer_of(self._connection.transport.send(attempt))
