"""Connections of the client: forks, restarts, idle time, proxies. And webhooks with hostile values.

Needs nothing but the standard library. Runs with `python3 check_transport.py`.
"""

from __future__ import annotations

import base64
import os
import socket
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock

from callsign import Callsign, ConnectionError, InvalidSignature, sign_webhook, verify_webhook
from callsign import _transport

SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.answered = 0
        self.server.opened += 1
        self.server.sockets.append(self.connection)

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        if self.answered >= self.server.answers_max:
            # Closed without an answer, as a server that restarts does.
            self.close_connection = True
            return
        self.answered += 1
        body = b'{"path":"%s"}' % self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        self.send_response(502)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.opened = 0
        self.answers_max = 1_000_000
        self.sockets: list[socket.socket] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def hang_up(self) -> None:
        """Closes every connection, as a restart does."""
        for one in self.sockets:
            one.shutdown(socket.SHUT_RDWR)
        self.sockets.clear()


class ServerCase(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.client = self.connect()

    def connect(self, url: str | None = None) -> Callsign:
        client = Callsign(url=url or self.server.url, api_key="svc_live_test", retries_max=0)
        self.addCleanup(client.close)
        return client

    def path(self, name: str, client: Callsign | None = None) -> str:
        """The path of a request as the server answered it."""
        answer: Any = (client or self.client).identities.get(name)
        return str(answer["path"]).rpartition("/")[2]


class Connections(ServerCase):
    def test_reuses_a_connection(self) -> None:
        for _ in range(3):
            self.path("sales")
        self.assertEqual(self.server.opened, 1)

    def test_a_fork_reads_its_own_answers(self) -> None:
        self.path("before")
        children = []
        for number in range(4):
            # The state of a lock that another thread held is copied too.
            with self.client._transport._pool._lock:
                child = os.fork()
            if child == 0:
                names = [f"child-{number}-{i}" for i in range(50)]
                os._exit(0 if [self.path(name) for name in names] == names else 1)
            children.append(child)
        names = [f"parent-{i}" for i in range(200)]
        self.assertEqual([self.path(name) for name in names], names)
        self.assertEqual([os.waitpid(child, 0)[1] for child in children], [0] * 4)

    def test_a_restart_counts_no_try(self) -> None:
        clients = [threading.Thread(target=self.path, args=(f"sales{i}",)) for i in range(4)]
        for one in clients:
            one.start()
        for one in clients:
            one.join()
        self.server.hang_up()
        self.assertEqual(self.path("after"), "after")

    def test_a_connection_that_dies_on_use_counts_no_try(self) -> None:
        self.server.answers_max = 1
        self.assertEqual([self.path("one"), self.path("two")], ["one", "two"])
        self.assertEqual(self.server.opened, 2)
        self.server.answers_max = 0
        with self.assertRaises(ConnectionError) as failure:
            self.path("three", self.connect())
        self.assertEqual(failure.exception.code, "connection_failed")

    def test_old_connections_are_not_used(self) -> None:
        self.path("one")
        with mock.patch.object(_transport, "_IDLE_MAX", 0.0):
            self.path("two")
        self.assertEqual(self.server.opened, 2)


class Proxies(ServerCase):
    def through(self, url: str, **environment: str) -> Callsign:
        with mock.patch.dict(os.environ, environment):
            return self.connect(url)

    def test_a_plain_request_names_the_whole_url(self) -> None:
        proxy = self.server.url.replace("//", "//user:pass%20word@")
        client = self.through("http://callsign.example:8080/base", HTTP_PROXY=proxy, http_proxy=proxy)
        self.assertEqual(self.path("sales", client), "sales")
        path, headers = self.server.requests[-1]
        self.assertEqual(path, "http://callsign.example:8080/base/api/v1/identities/sales")
        self.assertEqual(headers["Host"], "callsign.example:8080")
        self.assertEqual(headers["Proxy-Authorization"], "Basic dXNlcjpwYXNzIHdvcmQ=")

    def test_https_goes_through_a_tunnel(self) -> None:
        proxy = self.server.url.replace("//", "//user:secret@")
        client = self.through("https://callsign.example", HTTPS_PROXY=proxy, https_proxy=proxy)
        with self.assertRaises(ConnectionError):
            self.path("sales", client)
        path, headers = self.server.requests[-1]
        self.assertEqual(path, "callsign.example:443")
        self.assertEqual(headers["Proxy-Authorization"], "Basic dXNlcjpzZWNyZXQ=")
        self.assertNotIn("Authorization", headers)

    def test_exceptions_and_loopback_are_reached_directly(self) -> None:
        nowhere = "http://127.0.0.1:1"
        self.assertEqual(self.path("sales", self.through(self.server.url, http_proxy=nowhere)), "sales")
        listed = self.through("http://callsign.example", http_proxy=self.server.url, no_proxy=".example,other.test")
        self.assertIsNone(listed._transport._proxy)
        twin = self.through("http://callsign.example", http_proxy=self.server.url, no_proxy="other.test")
        self.assertIsNotNone(twin._transport._proxy)

    def test_other_kinds_of_proxies_are_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "HTTPS_PROXY must be the address of an HTTP proxy"):
            self.through("https://callsign.example", https_proxy="socks5://127.0.0.1:1080")


class Webhooks(unittest.TestCase):
    def test_hostile_values_raise_only_invalid_signature(self) -> None:
        good = sign_webhook(SECRET, "evt_1", "{}")
        bodies: list[Any] = [None, 1, {}, [], "\ud800", b"\xff", b"", "[" * 100_000, "1" * 5000]
        for body in bodies:
            with self.subTest(body=str(body)[:20]), self.assertRaises(InvalidSignature):
                verify_webhook(good, body, SECRET)
        for deep in ("[" * 100_000 + "]" * 100_000, "1" * 5000 + "x", "\x00"):
            with self.subTest(deep=deep[:10]), self.assertRaises(InvalidSignature):
                verify_webhook(sign_webhook(SECRET, "evt_1", deep), deep, SECRET)
        values: list[Any] = [None, 1, b"v1,aa", ["v1,aa"], "", "v1,\ud800", "v1,é", "v1," + "a" * 100_000, "\u0661" * 10, "9" * 13, "-1"]
        for name in good:
            for value in values:
                with self.subTest(name=name, value=str(value)[:20]), self.assertRaises(InvalidSignature):
                    verify_webhook({**good, name: value}, "{}", SECRET)
            with self.assertRaises(InvalidSignature):
                verify_webhook({key: value for key, value in good.items() if key != name}, "{}", SECRET)
        for secret in ("", "whsec_é", "whsec_%", "whsec_AA=="):
            with self.subTest(secret=secret), self.assertRaises(InvalidSignature):
                verify_webhook(good, "{}", secret)
        keys: Any = {b"webhook-id": "evt_1", None: "x", 1: "y"}
        with self.assertRaises(InvalidSignature):
            verify_webhook(keys, "{}", SECRET)

    def test_real_webhooks_pass(self) -> None:
        for body in ("{}", '{"a":"\u00e9"}', "[1,2]"):
            headers = sign_webhook(SECRET, "evt_1", body)
            self.assertEqual(verify_webhook(headers, body, SECRET), verify_webhook(headers, body.encode(), [SECRET]))
            named = {key.title(): value for key, value in headers.items()}
            verify_webhook(named, bytearray(body.encode()), SECRET)


if __name__ == "__main__":
    unittest.main()
