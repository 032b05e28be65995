"""The HTTP proxy that the environment names for the server: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY."""

from __future__ import annotations

import base64
import ipaddress
import urllib.request
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Proxy:
    """The address of an HTTP proxy, and the headers that it gets."""

    url: str
    host: str
    port: int
    headers: dict[str, str]


def proxy_for(url: str) -> Proxy | None:
    """The proxy for a server, or None. Raises ValueError if its address is not that of an HTTP proxy.

    Loopback addresses are reached directly.
    """
    target = urlsplit(url)
    host = target.hostname or ""
    proxies = urllib.request.getproxies()
    address = proxies.get(target.scheme) or proxies.get("all")
    if not address or _is_loopback(host) or urllib.request.proxy_bypass(target.netloc.rpartition("@")[2]):
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(
            f"{target.scheme.upper()}_PROXY must be the address of an HTTP proxy, such as http://proxy.example:3128."
        )
    headers = {}
    if parts.username:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    return Proxy(parts.geturl(), parts.hostname, parts.port or 80, headers)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
