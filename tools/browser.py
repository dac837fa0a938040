"""Drives a headless Chromium by its DevTools protocol: opens pages, presses keys, takes pictures, collects errors.

    python tools/browser.py          prints the browser that would be used, or how to get one

The browser is the program named by GRADTAPE_BROWSER, or the first of `NAMES` on the PATH. The protocol is JSON over two
pipes (`--remote-debugging-pipe`), so that this needs the standard library only: no driver, and no package that
downloads a browser of its own. Needs Linux or macOS.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell")
HOW_TO_GET = (
    "no Chromium was found. Install one (Debian: apt-get install chromium-headless-shell; macOS: brew install "
    "chromium), or name its program in GRADTAPE_BROWSER"
)
TIMEOUT = 60.0  # seconds that the browser may take for one answer
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_KEYS = {
    "Tab": (9, ""), "Enter": (13, "\r"), "Escape": (27, ""),
    "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowRight": (39, ""), "ArrowDown": (40, ""),
}  # fmt: skip


def find_browser() -> str | None:
    """Returns the path of the browser, or None."""
    if named := os.environ.get("GRADTAPE_BROWSER"):
        return shutil.which(named)
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """A running browser with one page; use it as a context manager."""

    def __init__(self, program: str, width: int = 1280, height: int = 800) -> None:
        self.errors: list[str] = []  # what the page's console has reported as errors, and exceptions
        self._program, self._size = program, (width, height)
        self._sent, self._received = 0, b""
        self._events: list[str] = []

    def __enter__(self) -> Browser:
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        (commands, self._write), (self._read, answers) = _pipe(), _pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, commands, 3),
            (os.POSIX_SPAWN_DUP2, answers, 4),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        command = [self._program, *_FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = os.posix_spawn(self._program, command, os.environ, file_actions=actions)
        os.close(commands)
        os.close(answers)
        self._session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.resize(*self._size)
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._write)
        os.close(self._read)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        self._profile.cleanup()

    def open(self, page: Path | str) -> None:
        """Opens a file or an address, and waits until it is loaded."""
        self._events.clear()
        answer = self.ask("Page.navigate", url=page.resolve().as_uri() if isinstance(page, Path) else page)
        if "errorText" in answer:
            raise RuntimeError(f"{page}: {answer['errorText']}")
        end = time.monotonic() + TIMEOUT
        while "Page.loadEventFired" not in self._events:
            self._take(self._next(end))

    def resize(self, width: int, height: int, mobile: bool = False) -> None:
        """Sets the size of the page, in CSS pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile
        )  # fmt: skip

    def prefer_colors(self, scheme: str) -> None:
        """Makes the system's colors "light" or "dark" for the page."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.ask("Emulation.setEmulatedMedia", features=[feature])

    def evaluate(self, script: str) -> Any:
        """Returns the value of a JavaScript expression, of which a promise is awaited."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(_describe(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and releases a key."""
        code, text = _KEYS.get(key, (ord(key[0].upper()), key))
        event = {"key": key, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.ask("Input.dispatchKeyEvent", **down, **event)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Types a text into the field that has the focus; the last key is one that leaves the text as it is."""
        self.ask("Input.insertText", text=text)
        self.press("ArrowRight")

    def screenshot(self, file: Path) -> None:
        """Writes a picture of what the page shows, in PNG format."""
        file.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method of the DevTools protocol and returns its result."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + TIMEOUT
        while True:
            answer = self._next(end)
            if answer.get("id") == self._sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._take(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError(f"{self._program} gave no answer for {TIMEOUT:.0f} s")
            received = os.read(self._read, 1 << 16)
            if not received:
                raise RuntimeError(f"{self._program} has ended")
            self._received += received
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def _take(self, message: dict[str, Any]) -> None:
        """Notes an event."""
        method, params = message.get("method", ""), message.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(_describe(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(x.get("value", x.get("description"))) for x in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}".strip())


def _pipe() -> tuple[int, int]:
    """Returns a pipe whose numbers are above 4: the browser reads from 3 and writes to 4."""
    ends = os.pipe()
    read, write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 5) for end in ends)
    for end in ends:
        os.close(end)
    return read, write


def _describe(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description", details.get("text")))


def main() -> int:
    found = find_browser()
    print(found or HOW_TO_GET)
    return int(found is None)


if __name__ == "__main__":
    sys.exit(main())
