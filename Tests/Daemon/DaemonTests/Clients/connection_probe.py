"""Connects as a new client continuously while its input is open: HTTPS_PORT DEVICE_PORT. It needs only Python.

An HTTPS client requests a page that does not exist and expects a response; a device, enrolled at the start, expects the answer
to its login. Reports "ok" for each attempt, or "failed" with the error, and its start (seconds of the monotonic clock).
"""
import socket
import ssl
import sys
import threading
import time

from dialogue import emit

HTTPS_PORT, DEVICE_PORT = int(sys.argv[1]), int(sys.argv[2])
# Longer than any restart takes, so that a client that waits in the socket's queue does not fail.
PATIENCE = 120
stopped = threading.Event()
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE


def connect(port):
    plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return context.wrap_socket(plain, server_hostname="localhost")


def read_all(connection):
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    return answer


def ask(method, path, body=b"", kind="text/plain"):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\n"
    with connect(HTTPS_PORT) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 "):
        raise OSError(f"no answer: {head!r}")
    return body


def enrol():
    """Checks in as a new device. Returns its Android ID and security token."""
    # logging_id 2: 0, checkin 4: empty, version 14: 3 (mcs-device 5.1).
    body = ask("POST", "/checkin", b"\x10\x00\x22\x00\x70\x03", "application/x-protobuf")
    found, at = {}, 0
    while at < len(body):
        tag, at = varint(body, at)
        if tag & 7 == 0:
            _, at = varint(body, at)
        elif tag & 7 == 2:
            length, at = varint(body, at)
            at += length
        else:
            size = 8 if tag & 7 == 1 else 4
            found[tag >> 3] = int.from_bytes(body[at:at + size], "little")
            at += size
    return found[7], found[8]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def text(field, value):
    return bytes([field << 3 | 2, len(value)]) + value.encode()


def log_in(device, token):
    login = (text(1, "android-30") + text(2, "mcs.android.com") + text(3, str(device)) + text(4, str(device))
             + text(5, str(token)) + text(6, f"android-{device:x}") + b"\x80\x01\x02")
    with connect(DEVICE_PORT) as connection:
        connection.sendall(bytes([41, 2, len(login) & 0x7F | 0x80, len(login) >> 7]) + login)
        answer = connection.recv(65536)
        # The version, then the answer to the login.
        if answer[:1] == b"\x29" and len(answer) == 1:
            answer += connection.recv(65536)
        if answer[:2] != b"\x29\x03":
            raise OSError(f"no answer to the login: {answer!r}")


def probe(kind, visit):
    while not stopped.is_set():
        began = time.monotonic()
        try:
            visit()
            emit("ok", kind=kind, at=began, seconds=time.monotonic() - began)
        except (ssl.SSLError, OSError) as error:
            emit("failed", kind=kind, at=began, error=repr(error))
        stopped.wait(0.02)


device, token = enrol()
threads = [threading.Thread(target=probe, args=("https", lambda: ask("GET", "/probe")), daemon=True),
           threading.Thread(target=probe, args=("device", lambda: log_in(device, token)), daemon=True)]
for thread in threads:
    thread.start()
sys.stdin.read()
stopped.set()
for thread in threads:
    thread.join()
emit("done")
