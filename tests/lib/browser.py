# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium by its debugging protocol, with the standard library alone.

with Browser() as b:
    b.open("/tmp/page.html")
    b.run("document.title")
Everything that the page logs, throws or asks for is kept: errors(), requests().
"""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

PATIENCE_S = 60


# Both as cells of 4 x 4 pixels, which a letter drawn a little otherwise changes little: the share of
# cells of which a colour differs by more than 24 of 255; 1 if they are not of one size.
DIFFERENCE = """(async (pictures) => {
    const [a, b] = await Promise.all(pictures.map(async (text) => {
        const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const size = [Math.ceil(image.width / 4), Math.ceil(image.height / 4)];
        const draw = new OffscreenCanvas(...size).getContext("2d");
        draw.imageSmoothingQuality = "high";
        draw.drawImage(image, 0, 0, ...size);
        return draw.getImageData(0, 0, ...size);
    }));
    if (a.width !== b.width || a.height !== b.height)
        return 1;
    let n = 0;
    for (let i = 0; i < a.data.length; i += 4)
        n += [0, 1, 2].some((c) => Math.abs(a.data[i + c] - b.data[i + c]) > 24);
    return n / (a.data.length / 4);
})"""


class BrowserError(Exception):
    """What the browser refused, or that it did not come up."""


class Browser:
    def __init__(self, width=1280, height=900):
        self.size = (width, height)
        self.events, self.number, self.pending = [], 0, b""

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-background-networking", "--no-first-run", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._connect(*self._address())
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
            self.resize(*self.size)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- the connection: a web socket, RFC 6455 ------------------------------------------------

    def _address(self):
        """The port, and the path of the browser's own socket."""
        path, end = os.path.join(self.folder, "DevToolsActivePort"), time.time() + PATIENCE_S
        while time.time() < end:
            if os.path.exists(path) and open(path).read().count("\n"):
                port, target = open(path).read().split()
                return int(port), target
            time.sleep(0.05)
        raise BrowserError("chromium did not come up")

    def _connect(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.pending:
            self.pending += self._receive()
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise BrowserError(head.decode(errors="replace").splitlines()[0])
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def _receive(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise BrowserError("chromium has closed the connection")
        return data

    def _take(self, n):
        while len(self.pending) < n:
            self.pending += self._receive()
        data, self.pending = self.pending[:n], self.pending[n:]
        return data

    def _send(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        if len(data) < 126:
            head = struct.pack("BB", 0x81, 0x80 | len(data))
        elif len(data) < 1 << 16:
            head = struct.pack(">BBH", 0x81, 0xfe, len(data))
        else:
            head = struct.pack(">BBQ", 0x81, 0xff, len(data))
        self.socket.sendall(head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(data)))

    def _next(self):
        message = b""
        while True:
            first, size = self._take(2)
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            message += self._take(size)
            if first & 0x80:
                return json.loads(message)

    # -- what a test does ----------------------------------------------------------------------

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        self._send({**message, "sessionId": self.session} if self.session else message)
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        """The value of a script's last expression; a promise's is awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait_for(self, script):
        end = time.time() + PATIENCE_S
        while not self.run(script):
            if time.time() > end:
                raise BrowserError("waited in vain for: " + script)
            time.sleep(0.05)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def script(self, on):
        self.call("Emulation.setScriptExecutionDisabled", value=not on)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self._next())

    def picture(self):
        """PNG of what the window shows."""
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        return base64.b64decode(shot["data"])

    def picture_of_all(self):
        """PNG of the whole page, a quarter as wide and high."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={**size, "x": 0, "y": 0, "scale": 0.25})
        return base64.b64decode(shot["data"])

    def difference(self, *pictures):
        """Of two PNGs: 0 to 1, as DIFFERENCE has it."""
        texts = [base64.b64encode(png).decode() for png in pictures]
        return self.run(f"{DIFFERENCE}({json.dumps(texts)})")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("Moved", x, y)
        for kind in "Pressed", "Released":
            self.mouse(kind, x, y, button="left", clickCount=1)

    def key(self, key, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def errors(self):
        """What the page threw or logged as an error or a warning."""
        said = []
        for e in self.events:
            params = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                said.append(json.dumps(params["exceptionDetails"])[:400])
            elif e.get("method") == "Log.entryAdded":
                said.append(params["entry"]["text"])
            elif e.get("method") == "Runtime.consoleAPICalled":
                said.append(json.dumps(params["args"])[:400])
        return said

    def requests(self):
        """The addresses that the page asked for, its own file among them."""
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]
