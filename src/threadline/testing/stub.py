"""`StubServer`: an HTTP server on loopback that answers as a test says, well or badly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

__all__ = ["Heard", "Reaction", "StubServer"]

_PATIENCE_S = 30
"""A held answer is let go after this, should the test forget to close the server."""


class Reaction(Struct, frozen=True, kw_only=True):
    """How one request is answered.

    Attributes:
        chunks: the body, each chunk sent by itself.
        status: the HTTP status.
        content_type: the `Content-Type`.
        headers: further headers.
        held: the number of the chunk before which nothing more is sent until the server is closed or the client is
            gone; -1 holds the headers too.
        cut: the number of the chunk before which the connection is closed.
    """

    chunks: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = {}
    held: int | None = None
    cut: int | None = None


class Heard(Struct, frozen=True, kw_only=True):
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: Any


class StubServer:
    """Answers requests with queued reactions, in order; where none is left, with status 418.

    A context manager: open inside it, closed with all its connections behind it.
    """

    def __init__(self) -> None:
        self._reactions: list[Reaction] = []
        self._requests: list[Heard] = []
        self._closed = threading.Event()
        self._holding = threading.Event()
        self._hung_up = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                stub._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Says nothing on stderr."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # Closing waits for open connections otherwise, and clients keep theirs.
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), name="threadline-stub")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Listens no longer, and lets go of held answers. Closing twice is closing once."""
        if not self._closed.is_set():
            self._closed.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def requests(self) -> list[Heard]:
        """What came in so far, oldest first; a new list each time."""
        return [*self._requests]

    def queue(self, *reactions: Reaction) -> None:
        """Adds answers for the requests to come."""
        self._reactions.extend(reactions)

    def forget(self) -> None:
        """Drops what came in and what is queued."""
        self._reactions.clear()
        self._requests.clear()

    def holding(self, timeout_s: float) -> bool:
        """True once an answer is held."""
        return self._holding.wait(timeout_s)

    def hung_up(self, timeout_s: float) -> bool:
        """True once a client has closed its connection in the middle of a held answer."""
        return self._hung_up.wait(timeout_s)

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        content = handler.rfile.read(int(handler.headers.get("Content-Length", "0")))
        headers = {key.lower(): value for key, value in handler.headers.items()}
        self._requests.append(Heard(path=handler.path, headers=headers, body=json.loads(content)))
        reaction = self._reactions.pop(0) if self._reactions else Reaction(status=418, chunks=(b"{}",))
        try:
            self._send(handler, reaction)
        except OSError:
            self._hung_up.set()
            handler.close_connection = True

    def _send(self, handler: BaseHTTPRequestHandler, reaction: Reaction) -> None:
        if reaction.cut == 0 or self._held(handler, reaction, -1):
            handler.close_connection = True
            return
        handler.send_response(reaction.status)
        handler.send_header("Content-Type", reaction.content_type)
        handler.send_header("Transfer-Encoding", "chunked")
        for key, value in reaction.headers.items():
            handler.send_header(key, value)
        handler.end_headers()
        for number, chunk in enumerate(reaction.chunks):
            if reaction.cut == number or self._held(handler, reaction, number):
                handler.close_connection = True
                return
            if chunk:
                handler.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
                handler.wfile.flush()
        if reaction.cut == len(reaction.chunks):
            handler.close_connection = True
            return
        handler.wfile.write(b"0\r\n\r\n")

    def _held(self, handler: BaseHTTPRequestHandler, reaction: Reaction, number: int) -> bool:
        """Waits at the place the reaction says; True where it did, and the connection is to be closed."""
        if reaction.held != number:
            return False
        self._holding.set()
        handler.connection.settimeout(0.02)
        for _ in range(_PATIENCE_S * 50):
            if self._closed.is_set():
                break
            try:
                if not handler.connection.recv(1, socket.MSG_PEEK):
                    self._hung_up.set()
                    break
            except TimeoutError:
                continue
        return True
