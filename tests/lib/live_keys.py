#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""live_keys.py N SEED COMMAND...: runs the live view in a terminal of its own, presses N random keys, some
of them while the terminal changes its size, then quits. Exits 0 if the command did, and left the terminal
as it was; else says what was wrong. Keys that start other programs or write files are not pressed."""
import fcntl
import os
import pty
import random
import select
import struct
import sys
import termios
import time

KEYS = [*(bytes([c]) for c in b" /\\<>?Ieghjkmt[]yG1aZ\t\r\x7f\x1b\xc3\xff\x01"), "é".encode(), "漢".encode(),
        b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1bOA", b"\x1bOB", b"\x1b[5~", b"\x1b[6~", b"\x1bOH",
        b"\x1bOF", b"\x1bOP", b"\x1bOR", b"\x1bOS", b"\x1b[15~", b"\x1b[17~", b"\x1b[Z", b"\x1b[99;5~", b"\x1b]"]
BATCH = 50      # keys that are typed at once
RESIZE = 0.2    # share of these, before which the size changes

count, seed, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
rng = random.Random(seed)


def die(what):
    sys.exit(f"live_keys.py: {what} (seed {seed})")


def resize(fd):
    lines, columns = rng.choice([(24, 80), (1, 1), (rng.randint(1, 60), rng.randint(1, 250))])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


terminal, slave = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.environ.update(TERM="xterm-256color", XDG_CONFIG_HOME="/proc/none")
    os.execvp(command[0], command)

tail = b""


def drain(seconds):
    """Reads what the view writes until it has been quiet for so long."""
    global tail
    while select.select([terminal], [], [], seconds)[0]:
        tail = (tail + os.read(terminal, 65536))[-4096:]


drain(1)
pressed, end = 0, time.monotonic() + 3600
while pressed < count:
    if rng.random() < RESIZE:
        resize(terminal)
    keys = b"".join(rng.choice(KEYS) for _ in range(min(BATCH, count - pressed)))
    while keys:
        ready = select.select([terminal], [terminal], [], 60)
        if not any(ready) or time.monotonic() > end:
            die(f"no answer after {pressed} keys")
        if ready[0]:
            tail = (tail + os.read(terminal, 65536))[-4096:]
        elif ready[1]:
            keys = keys[os.write(terminal, keys[:64]):]
    pressed += BATCH
    if os.waitpid(pid, os.WNOHANG)[0]:
        die(f"it ended after {pressed} keys: {tail[-2000:].decode(errors='replace')}")
drain(0.5)
for key in (b"\x1b", b"\x1b", b"\x1b", b"\x1b", b"q"):      # from any page and prompt
    os.write(terminal, key)
    drain(0.2)
limit = time.monotonic() + 60
status = None
while time.monotonic() < limit and status is None:
    drain(0.1)
    gone, code = os.waitpid(pid, os.WNOHANG)
    status = code if gone else None
if status is None:
    os.kill(pid, 9)
    die("q did not end it")
if os.waitstatus_to_exitcode(status):
    die(f"it ended with {os.waitstatus_to_exitcode(status)}: {tail[-2000:].decode(errors='replace')}")
if termios.tcgetattr(slave) != before:
    die("the terminal's settings are others than before")
if b"\x1b[?1049l" not in tail or b"\x1b[?25h" not in tail[tail.rfind(b"\x1b[?1049h") + 1:]:
    die("the terminal's first screen or its cursor is not back")
print(f"{pressed} keys")
