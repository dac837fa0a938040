"""Control plane between ranks: startup, agreement on the next collective, and failure detection.

Rank 0 runs a `Coordinator`; every rank, rank 0 included, keeps a connection to it (`Member`). When a process dies, the
operating system closes its connection, so the other ranks are notified at once, whatever they wait for. Before each
collective, a rank reports to the coordinator what it is about to call. The coordinator compares the reports; if one
rank calls something else, or does not call within the time limit, it notifies all ranks of the culprit and the reason.
Tensor data does not pass through here: XLA transfers it.

Messages are authenticated (`channel.py`). The coordinator closes connections from peers without the job's secret and
continues.
"""

from __future__ import annotations

import os
import selectors
import socket
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Iterable
from typing import Any

from ...core import errors
from ...core.tracebacks import own_places
from .channel import AuthenticationError, Channel, Message

KINDS: dict[str, type[errors.OpError]] = {
    "gone": errors.UnavailableError,
    "late": errors.DeadlineExceededError,
    "disagreement": errors.InvalidArgumentError,
}
GRACE = 10.0  # seconds that a process has to react to another rank's failure before it is terminated
_TICK = 0.1
_STRANGER_SECONDS = 10.0  # seconds that a peer has to authenticate itself


def format_ranks(ranks: Iterable[int]) -> str:
    """Formats ranks as `rank 3` or `ranks 1, 2`, at most ten of them."""
    found = sorted(ranks)
    shown = ", ".join(map(str, found[:10])) + (f" and {len(found) - 10} others" if len(found) > 10 else "")
    return f"rank{'s' * (len(found) > 1)} {shown}"


class _Connection:
    """A channel to a process and the coordinator's knowledge of that process."""

    def __init__(self, channel: Channel, address: str) -> None:
        self.channel = channel
        self.address = address
        self.since = time.monotonic()
        self.rank: int | None = None
        self.who = ""
        self.count = 0  # number of its last collective
        self.left: str | None = None  # reason why it left; "" for a normal end of the program
        self.place: str | None = None  # current source line of its program, once reported


class _RemoteCall:
    """A collective that some ranks have reached and others have not."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.digests: dict[int, int] = {}
        self.values: dict[int, Any] = {}
        self.waiting = False  # whether a rank waits until all have reached it
        self.asked: float | None = None  # when the missing ranks were sent a request for their position


class Coordinator:
    """The server on rank 0 that all members report to."""

    def __init__(self, listener: socket.socket, size: int, job: str, secret: bytes, timeout: float) -> None:
        self._size, self._job, self._secret, self._timeout = size, job, secret, timeout
        self._listener = listener
        self._rejected = ""  # description of the last connection rejected as unauthenticated
        self._members: dict[int, _Connection] = {}
        self._calls: dict[int, _RemoteCall] = {}
        self._descriptions: dict[int, str] = {}
        self._failure: dict[str, Any] | None = None
        self._started = time.monotonic()
        self._complete = self._closed = False
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, None)
        os.register_at_fork(after_in_child=self._close_connections)
        self._thread = threading.Thread(target=self._serve, name="gradtape coordinator", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the server and closes all connections."""
        self._closed = True
        self._thread.join()
        self._close_connections()
        self._selector.close()

    def _close_connections(self) -> None:
        for key in list((self._selector.get_map() or {}).values()):
            key.fileobj.close()  # type: ignore[union-attr]

    def _serve(self) -> None:
        while not self._closed:
            for key, _ in self._selector.select(_TICK):
                if key.data is None:
                    self._open_connection()
                else:
                    self._receive_from(key.data)
            self._close_idle_strangers()
            if self._failure is None:
                self._look_at_the_clock()

    def _open_connection(self) -> None:
        try:
            connection, address = self._listener.accept()
        except OSError:  # the peer has disconnected already, or this process is out of file descriptors
            time.sleep(_TICK)
            return
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(5.0)
        opened = _Connection(Channel(connection, self._secret, "coordinator"), str(address[0]))
        self._selector.register(connection, selectors.EVENT_READ, opened)

    def _receive_from(self, connection: _Connection) -> None:
        try:
            messages = connection.channel.receive()
        except AuthenticationError as error:
            self._reject(connection, str(error))
            return
        for message in messages or ():
            self._hear(connection, message)
        if messages is None:
            self._close(connection)
            self._lost(connection)

    def _close_idle_strangers(self) -> None:
        """Closes connections whose peer has not authenticated itself within the limit."""
        limit = time.monotonic() - _STRANGER_SECONDS
        for key in list(self._selector.get_map().values()):
            opened: _Connection | None = key.data
            if opened is not None and not opened.channel.is_authenticated and opened.since < limit:
                self._reject(opened, f"it did not identify itself within {_STRANGER_SECONDS:g} s")

    def _reject(self, connection: _Connection, reason: str) -> None:
        self._rejected = f"The last rejected connection came from {connection.address}: {reason}"
        self._close(connection)
        if connection.rank is not None:  # a member's stream was tampered with
            self._lost(connection)

    def _close(self, connection: _Connection) -> None:
        self._selector.unregister(connection.channel.socket)
        connection.channel.socket.close()

    def _hear(self, connection: _Connection, message: Message) -> None:
        if "hello" in message:
            self._welcome(connection, message)
        elif "call" in message:
            self._compare(connection, message)
        elif "place" in message:
            connection.place = message["place"]
        elif "left" in message:
            connection.left = message["left"]
            if connection.left:
                self._fail("gone", f"{connection.who} ended with {connection.left}", None)
            elif all(member.left is not None for member in self._members.values()):
                self._tell_all({"all left": True})

    def _welcome(self, connection: _Connection, message: Message) -> None:
        rank, size, job = message["hello"], message["size"], message["job"]
        reason = ""
        if job != self._job:
            reason = f"belongs to the job {job!r}, but this is {self._job!r}: another run uses the same address"
        elif size != self._size:
            reason = f"was started as one of {size} processes, but rank 0 as one of {self._size}"
        elif not 0 <= rank < size:
            reason = f"does not exist: ranks go from 0 to {size - 1}"
        elif rank in self._members:
            reason = f"is already connected ({self._members[rank].who}): two processes have the same rank"
        if reason:
            failure = {"kind": "disagreement", "text": f"rank {rank} {reason}", "speaker": rank}
            connection.channel.send({"failed": failure})
            return
        connection.channel.send({"accepted": True})
        connection.rank = rank
        connection.who = f"rank {rank} (process {message['pid']} on {message['host']})"
        self._members[rank] = connection
        if self._failure is not None:
            connection.channel.send({"failed": self._failure})
        elif len(self._members) == self._size:
            self._complete = True
            self._tell_all({"welcome": True})

    def _compare(self, connection: _Connection, message: Message) -> None:
        """Records that a rank has reached a collective, and compares it with the calls of the other ranks."""
        if connection.rank is None or self._failure is not None:
            return
        number, digest = message["call"], message["digest"]
        if "what" in message:
            self._descriptions[digest] = message["what"]
        call = self._calls.setdefault(number, _RemoteCall())
        for other, theirs in call.digests.items():
            if theirs != digest:
                difference = self._difference(number, other, theirs, connection.rank, digest)
                self._fail("disagreement", difference, connection.rank)
                return
            break
        connection.count = number
        call.digests[connection.rank] = digest
        call.values[connection.rank] = message.get("value")
        call.waiting = call.waiting or message["wait"]
        if len(call.digests) == self._size:
            del self._calls[number]
            if call.waiting:
                self._tell_all({"agreed": number, "values": [call.values[rank] for rank in range(self._size)]})

    def _difference(self, number: int, first: int, theirs: int, second: int, digest: int) -> str:
        one, two = (self._descriptions.get(d, "something else") for d in (theirs, digest))
        parts = [(a, b) for a, b in zip(one.split("; "), two.split("; "), strict=False) if a != b]
        if parts and len(one.split("; ")) == len(two.split("; ")) and one.split("; ")[0] == two.split("; ")[0]:
            name = one.split("; ")[0]
            detail = f"{name}: {parts[0][0]} at rank {first}, {parts[0][1]} at rank {second}"
        else:
            detail = f"rank {first} calls {_shorten(one)}, rank {second} calls {_shorten(two)}"
        return (
            f"the ranks disagree about collective {number}: {detail}. All ranks must call the same collectives, in "
            "the same order, on values of the same shapes and dtypes"
        )

    def _lost(self, connection: _Connection) -> None:
        """Handles a closed connection: a failure, unless its process has announced that it leaves."""
        if connection.rank is not None and connection.left is None:
            message = f"{connection.who} died without reporting an error, after {connection.count} collectives"
            self._fail("gone", message, None)

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        if not self._complete:
            if now - self._started > self._timeout:
                missing = set(range(self._size)) - set(self._members)
                late = f"{format_ranks(missing)} of {self._size} did not start within {self._timeout:g} s"
                self._fail("late", late + (f". {self._rejected}" if self._rejected else ""), 0)
            return
        for number, call in self._calls.items():
            missing = set(range(self._size)) - set(call.digests)
            what = _shorten(self._descriptions.get(next(iter(call.digests.values())), "a collective"))
            waits = f"{format_ranks(call.digests)} wait{'s' * (len(call.digests) == 1)} in collective {number}, {what}"
            ended = [rank for rank in missing if self._members[rank].left is not None]
            if ended:
                message = f"{format_ranks(ended)} reached the end of the program, while {waits}"
                self._fail("gone", message, min(call.digests))
                return
            if now - call.since > self._timeout and call.asked is None:
                call.asked = now
                for rank in missing:
                    self._members[rank].channel.send({"where": True})
            if call.asked is not None:
                silent = [rank for rank in missing if self._members[rank].place is None]
                if silent and now - call.asked < 2.0:
                    return
                places = "; ".join(
                    f"rank {rank} {'does not answer' if (at := self._members[rank].place) is None else f'is {at}'}"
                    for rank in sorted(missing)[:4]
                )
                late = f"{format_ranks(missing)} did not arrive within {self._timeout:g} s, while {waits}. {places}"
                self._fail("late", late, min(call.digests))
                return

    def _fail(self, kind: str, text: str, speaker: int | None) -> None:
        """Broadcasts the first failure. Under one launcher only rank `speaker` raises; the others are terminated."""
        if self._failure is None:
            self._failure = {"kind": kind, "text": text, "speaker": speaker}
            self._tell_all({"failed": self._failure})

    def _tell_all(self, message: Message) -> None:
        for member in self._members.values():
            member.channel.send(message)


def _shorten(text: str) -> str:
    text = text.replace("; ", ", ")
    return text if len(text) <= 200 else text[:200] + " ..."


class Member:
    """A rank's connection to the coordinator. The constructor blocks until all ranks have connected."""

    def __init__(
        self, rank: int, size: int, address: tuple[str, int], job: str, secret: bytes, timeout: float, launched: bool
    ) -> None:
        self.rank, self.size = rank, size
        self._address = f"{address[0]}:{address[1]}"
        self.timeout = timeout
        self._launched = launched
        self._changed = threading.Condition()
        self._agreed: dict[int, list[Any]] = {}
        self._failure: errors.OpError | None = None
        self._speaker: int | None = None
        self._noticed = False
        self._accepted = self._welcome = self._all_left = self._leaving = False
        self._count = 0
        self._known: set[int] = set()
        self._order = threading.Lock()
        self._channel = _connect(address, rank, secret, timeout)
        # A forked child must not keep the connection open when this process dies.
        os.register_at_fork(after_in_child=self._channel.socket.close)
        threading.Thread(target=self._listen, name="gradtape member", daemon=True).start()
        host = socket.gethostname()
        self._channel.send({"hello": rank, "size": size, "job": job, "pid": os.getpid(), "host": host})
        self._wait(lambda: self._welcome, "start")

    @property
    def own_address(self) -> str:
        """The address of this host on the network by which it reaches rank 0."""
        return str(self._channel.socket.getsockname()[0])

    @property
    def failed(self) -> bool:
        """Whether any rank has failed."""
        return self._failure is not None

    def call(self, what: str, value: Any = None, wait: bool = False, then: Any = None) -> list[Any] | None:
        """Reports this rank's next collective, `what`, to the coordinator; then calls `then()`, in the same order.

        With `wait`, or at this rank's first call of `what`, blocks until all ranks have reported the same call and
        returns the `value` of each. Otherwise returns at once, and a later check raises a disagreement.
        """
        self.check()
        digest = zlib.crc32(what.encode())
        with self._order:
            self._count += 1
            number = self._count
            message: Message = {"call": number, "digest": digest, "wait": wait}
            if digest not in self._known:
                self._known.add(digest)
                message |= {"what": what, "wait": True}
            if value is not None:
                message["value"] = value
            self._channel.send(message)
            if message["wait"]:
                self._wait(lambda: number in self._agreed, what)
            if then is not None:
                then()
        return self._agreed.pop(number) if message["wait"] else None

    def _wait(self, ready: Any, what: str) -> None:
        limit = time.monotonic() + self.timeout + GRACE  # leaves the coordinator time to detect the failure first
        with self._changed:
            while not ready() and self._failure is None:
                if time.monotonic() > limit:
                    self._set_failure("late", f"rank 0 has not answered within {self.timeout:g} s after {what}", None)
                self._changed.wait(_TICK)
        if not ready():
            self.check()

    def check(self) -> None:
        """Raises the failure of a rank, if there is one."""
        if self._failure is None:
            return
        self._let_others_speak()
        self._noticed = True
        raise self._failure

    def _let_others_speak(self) -> None:
        if self._launched and self._speaker != self.rank:
            time.sleep(2.0)  # the launcher reports the failure and terminates this process

    def failure_soon(self) -> None:
        """After a failed transfer, raises the reason if the coordinator reports one within a second."""
        with self._changed:
            self._changed.wait_for(lambda: self._failure is not None, 1.0)
        self.check()

    def leave(self, reason: str = "") -> None:
        """Announces the end of this process: an error, if `reason` is given; else waits until all ranks have ended."""
        if self._failure is not None:
            return
        self._leaving = True
        self._channel.send({"left": reason})
        if not reason:
            with self._changed:
                self._changed.wait_for(lambda: self._all_left or self._failure is not None)
            if self._failure is not None:
                self._let_others_speak()

    def _listen(self) -> None:
        while True:
            try:
                messages = self._channel.receive()
            except AuthenticationError:
                messages = None
            with self._changed:
                for message in messages or ():
                    if "agreed" in message:
                        self._agreed[message["agreed"]] = message["values"]
                    elif "failed" in message:
                        failed = message["failed"]
                        self._set_failure(failed["kind"], failed["text"], failed["speaker"])
                    elif "where" in message:
                        self._channel.send({"place": _place()})
                    self._accepted = self._accepted or "accepted" in message
                    self._welcome = self._welcome or "welcome" in message
                    self._all_left = self._all_left or "all left" in message
                if messages is None and not self._all_left:
                    rejected = f"rank 0 at {self._address} closed the connection before it accepted rank {self.rank}. "
                    died = "rank 0 died without reporting an error"
                    text = died if self._accepted else rejected + _SECRETS_MAY_DIFFER
                    self._set_failure("gone", text, None)
                self._changed.notify_all()
            if messages is None:
                self._channel.socket.close()
                return

    def _set_failure(self, kind: str, text: str, speaker: int | None) -> None:
        if self._failure is None:
            self._speaker = speaker
            self._failure = KINDS[kind](text)
            if self._welcome and not self._leaving:
                threading.Thread(target=self._enforce, args=(text,), daemon=True).start()

    def _enforce(self, text: str) -> None:
        """Terminates this process if its program does not end by itself."""
        time.sleep(min(GRACE, self.timeout))
        if self._noticed:
            time.sleep(self.timeout)
        self._let_others_speak()
        print(f"gradtape: rank {self.rank} is ended: {text}", file=sys.stderr, flush=True)
        os._exit(1)


_SECRETS_MAY_DIFFER = (
    "Either it has died, or the processes have different secrets: set GRADTAPE_SECRET to the same random text for all "
    "of them (`gradtape launch` does so on one host; hosts that share a home directory share its ~/.gradtape/secret)"
)


def _connect(address: tuple[str, int], rank: int, secret: bytes, timeout: float) -> Channel:
    """Connects to the coordinator; retries, since rank 0 may start later than this process."""
    limit = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection(address, timeout=5.0)
        except OSError as error:
            if time.monotonic() > limit:
                raise errors.DeadlineExceededError(
                    f"rank {rank} could not reach rank 0 at {address[0]}:{address[1]} within {timeout:g} s ({error}). "
                    "Is rank 0 running, and is its address right?"
                ) from error
            time.sleep(0.05)
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        channel = Channel(connection, secret, "member")
        connection.settimeout(max(5.0, timeout))
        try:
            channel.handshake()
        except AuthenticationError as error:
            connection.close()
            raise errors.UnavailableError(
                f"What answers at {address[0]}:{address[1]} is not rank 0 of this job: {error}. Does another program "
                "use this port?"
            ) from error
        connection.settimeout(None)
        return channel


def _place() -> str:
    """Returns the user's innermost source line in the main thread."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    own = (*own_places(), "<frozen")
    lines = [line for line in traceback.extract_stack(frame) if not line.filename.startswith(own)]
    return f"at {lines[-1].filename}:{lines[-1].lineno} in {lines[-1].name}" if lines else "running"
