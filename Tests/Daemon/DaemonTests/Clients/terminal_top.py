"""Runs a command on a new terminal, interrupts it, and reports how it leaves the terminal.

Usage: terminal_top.py KEYS PROGRAM ARGUMENT...
KEYS are typed once the second screen is drawn. Prints one JSON object.
"""
import fcntl
import json
import os
import select
import subprocess
import sys
import termios
import time

keys = sys.argv[1].encode().decode("unicode_escape").encode()
master, slave = os.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x14\x00\x50\x00\x00\x00\x00\x00")
before = termios.tcgetattr(slave)


def own_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


process = subprocess.Popen(
    sys.argv[2:], stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal)
output, during, typed = b"", None, False
end = time.monotonic() + 60
while time.monotonic() < end:
    ready, _, _ = select.select([master], [], [], 0.05)
    if ready:
        output += os.read(master, 65536)
    if not typed and output.count(b"\x1b[H") >= 3:
        during = termios.tcgetattr(slave)
        os.write(master, keys)
        typed = True
    if process.poll() is not None and not ready:
        break
else:
    process.kill()
after = termios.tcgetattr(slave)
text = output.decode(errors="replace")
print(json.dumps({
    "code": process.wait(),
    "entered": text.count("\x1b[?1049h"),
    "left": text.count("\x1b[?1049l"),
    "hidden": text.count("\x1b[?25l"),
    "shown": text.count("\x1b[?25h"),
    "echo_before": bool(before[3] & termios.ECHO),
    "echo_during": bool(during and during[3] & termios.ECHO),
    "same": before == after,
    "longest": max((len(line.split("\x1b[K")[-1].rstrip("\r")) for line in text.split("\r\n")), default=0),
    "text": text[:4000],
}))
