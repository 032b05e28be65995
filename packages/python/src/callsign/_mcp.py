"""The Model Context Protocol as far as tools need it: one request, one answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, List, Mapping

from ._request import Attempt, Reply, Settings, body_of, query_text
from .errors import CallsignError, ConnectionError

PROTOCOL = "2025-11-25"


@dataclass(frozen=True)
class Tool:
    """A tool for a model. `input_schema` is JSON Schema."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    is_read_only: bool
    is_destructive: bool


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool: `text` for a model, and the same as data."""

    is_error: bool
    text: str
    structured: Mapping[str, Any]


def attempt_for(
    settings: Settings, method: str, params: Mapping[str, Any], toolsets: str | None, read_only: bool
) -> Attempt:
    query = query_text({"toolsets": toolsets, "read_only": "1" if read_only else None, "results": "both"})
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = settings.headers("application/json, text/event-stream")
    return Attempt(
        method="POST",
        url=f"{settings.url}/mcp{query}",
        headers={**headers, "Content-Type": "application/json", "MCP-Protocol-Version": PROTOCOL},
        body=json.dumps(message).encode(),
        timeout=settings.timeout,
        is_repeatable=False,
    )


def answer_of(reply: Reply) -> Mapping[str, Any]:
    """The result in a reply, which is JSON or one event of a stream. Raises CallsignError on failure."""
    text = body_of(reply).decode()
    if reply.headers.get("content-type", "").startswith("text/event-stream"):
        data = [line[len("data: ") :] for line in text.splitlines() if line.startswith("data: ")]
        text = data[-1] if data else ""
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise ConnectionError("reply_unusable", "The reply of the MCP endpoint is not JSON.") from error
    if "error" in answer:
        raise CallsignError("tool_failed", str(answer["error"].get("message", "The call failed.")))
    result: Mapping[str, Any] = answer["result"]
    return result


def tools_of(answer: Mapping[str, Any]) -> List[Tool]:
    return [
        Tool(
            name=tool["name"],
            title=tool.get("title", tool["name"]),
            description=tool.get("description", ""),
            input_schema=tool["inputSchema"],
            is_read_only=bool(tool.get("annotations", {}).get("readOnlyHint")),
            is_destructive=bool(tool.get("annotations", {}).get("destructiveHint")),
        )
        for tool in answer["tools"]
    ]


def result_of(answer: Mapping[str, Any]) -> ToolResult:
    texts = [part["text"] for part in answer.get("content", []) if part.get("type") == "text"]
    return ToolResult(bool(answer.get("isError")), "\n".join(texts), answer.get("structuredContent", {}))


def to_anthropic(tools: List[Tool]) -> List[dict[str, Any]]:
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools]


def to_openai(tools: List[Tool]) -> List[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
        }
        for tool in tools
    ]
