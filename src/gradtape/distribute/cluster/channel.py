"""Authenticated messages between the processes of a job: lines of JSON, each with a message authentication code (HMAC).

Both ends know the job's secret and prove it with every message; the secret itself is never sent. The coordinator sends
a nonce when a connection opens, the member replies with its own, and both derive one key per direction from the secret
and the two nonces. Each code covers the sequence number of its message, so a recorded message cannot be repeated,
reordered, replayed on another connection or reflected to its sender. Messages are not encrypted.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import socket
import threading
from typing import Any, Literal, TypeAlias

Message: TypeAlias = dict[str, Any]

_NONCE_CHARACTERS = 32
_CODE_CHARACTERS = 64
# Limit on the data that a peer may send before its first valid message. A nonce and a member's greeting fit easily.
_MAX_BYTES_FROM_STRANGERS = 1 << 14
_SECRET_FILE = os.path.join("~", ".gradtape", "secret")


class AuthenticationError(Exception):
    """The peer does not know the job's secret, or does not speak gradtape's protocol."""


class Channel:
    """A socket that accepts messages only from a peer that knows the job's secret.

    `is_authenticated` becomes true with the first valid message; `receive` returns no message from before that.
    """

    def __init__(self, connection: socket.socket, secret: bytes, role: Literal["coordinator", "member"]) -> None:
        self.socket = connection
        self.is_authenticated = False
        self._secret, self._role = secret, role
        self._sending_key = self._receiving_key = b""
        self._sent = self._received = 0
        self._sending = threading.Lock()  # a member sends from the program's threads and from its listener thread
        self._rest = b""
        self._own_nonce = secrets.token_hex(_NONCE_CHARACTERS // 2).encode()
        if role == "coordinator":
            self._send_line(self._own_nonce)

    def send(self, message: Message) -> None:
        """Sends a message. Ignores a closed connection: `receive` reports it."""
        body = json.dumps(message).encode()
        with self._sending:
            self._send_line(_code(self._sending_key, self._sent, body) + body)
            self._sent += 1

    def _send_line(self, line: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(line + b"\n")

    def handshake(self) -> None:
        """Waits for the coordinator's nonce. A member does this before it sends its first message."""
        while not self._sending_key:
            if self.receive() is None:
                raise AuthenticationError("the connection was closed")

    def receive(self) -> list[Message] | None:
        """Waits for data and returns the messages that it completes; None when the connection is closed.

        Raises `AuthenticationError` if the peer cannot be a process of the job.
        """
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            raise AuthenticationError("it sent nothing") from None
        except OSError:
            return None
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not self.is_authenticated and len(self._rest) > _MAX_BYTES_FROM_STRANGERS:
            raise AuthenticationError("its first line is too long")
        return [message for line in lines if (message := self._accept(line)) is not None]

    def _accept(self, line: bytes) -> Message | None:
        if not self._receiving_key:
            self._derive_keys(line)
            return None
        code, body = line[:_CODE_CHARACTERS], line[_CODE_CHARACTERS:]
        if not hmac.compare_digest(code, _code(self._receiving_key, self._received, body)):
            raise AuthenticationError("it does not know the secret of the job")
        self._received += 1
        self.is_authenticated = True
        message: Message = json.loads(body)
        return message

    def _derive_keys(self, nonce: bytes) -> None:
        if len(nonce) != _NONCE_CHARACTERS:
            raise AuthenticationError("it does not speak gradtape's protocol")
        if self._role == "member":
            self._send_line(self._own_nonce)
            nonces, peer = nonce + self._own_nonce, "coordinator"
        else:
            nonces, peer = self._own_nonce + nonce, "member"
        self._sending_key = hmac.digest(self._secret, nonces + self._role.encode(), hashlib.sha256)
        self._receiving_key = hmac.digest(self._secret, nonces + peer.encode(), hashlib.sha256)


def _code(key: bytes, number: int, body: bytes) -> bytes:
    return hmac.digest(key, number.to_bytes(8, "big") + body, hashlib.sha256).hex().encode()


def job_secret() -> bytes:
    """Returns the secret that the processes of a job share: `GRADTAPE_SECRET`, or else the user's secret file.

    The file is created if it does not exist, readable only by the user. It serves jobs on one host and on hosts that
    share a home directory.
    """
    given = os.environ.get("GRADTAPE_SECRET", "")
    if given:
        return given.encode()
    path = os.path.expanduser(_SECRET_FILE)
    try:
        with contextlib.suppress(FileExistsError):
            _create_secret(path)
        with open(path, "rb") as file:
            mode, secret = os.fstat(file.fileno()).st_mode, file.read().strip()
    except OSError as error:
        raise PermissionError(
            f"The processes of a job need a shared secret, and {_SECRET_FILE} cannot be read or written ({error}). Set "
            "the environment variable GRADTAPE_SECRET to the same random text for all processes"
        ) from error
    if os.name == "posix" and mode & 0o077:
        raise PermissionError(
            f"{_SECRET_FILE} holds the secret of your jobs, and other users can read it. Remove the file: the next job "
            "creates it again, with a new secret"
        )
    if len(secret) < _NONCE_CHARACTERS:
        raise ValueError(f"{_SECRET_FILE} is too short for a secret. Remove the file: it is created again")
    return secret


def _create_secret(path: str) -> None:
    """Creates the secret file unless it exists. The file appears atomically, with its complete content."""
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    unique = f"{path}.{secrets.token_hex(8)}"
    file = os.open(unique, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(file, secrets.token_hex(32).encode() + b"\n")
        os.fsync(file)
    finally:
        os.close(file)
    try:
        os.link(unique, path)
    finally:
        os.unlink(unique)
