#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""in_terminal.py quit|hangup FILE COMMAND...: runs the command in a terminal of its own; when FILE is
there, types Ctrl-\\ or takes the terminal away. Prints what it wrote; exits as it does (128 + signal)."""
import os
import pty
import select
import signal
import sys
import time

what, mark, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):  # as in the background, or by nohup
        signal.signal(ignored, signal.SIG_DFL)
    os.execvp(command[0], command)

end = time.monotonic() + 30
done, status = False, 0
while time.monotonic() < end:
    if terminal >= 0 and select.select([terminal], [], [], 0.02)[0]:
        try:
            sys.stdout.buffer.write(os.read(terminal, 4096))
        except OSError:  # all who had it open are gone
            os.close(terminal)
            terminal = -1
    if not done and os.path.exists(mark):
        done = True
        if what == "quit":
            os.write(terminal, b"\x1c")
        else:
            os.close(terminal)
            terminal = -1
    gone, status = os.waitpid(pid, os.WNOHANG)
    if gone:
        break
    if terminal < 0:
        time.sleep(0.02)
else:
    os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
sys.stdout.flush()
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
