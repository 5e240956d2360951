"""A browser's console on the operator API, with requests: login, cookie, changes, streams.

Arguments: PORT CA; the token of an operator is the first line of standard input. Commands: {"do": "login"}, {"do": "ask", "method",
"path", "headers", "json"}, {"do": "stream", "path", "events"}, {"do": "stall", "path"} (opens a stream and never reads it). Answers:
"answer" with the status, the JSON and the flags of the cookie, "event" with the name and data of each event, "ended" at the end of a
stream, "stalled" with what a reader finds that comes too late,
"held" with how many of the streams that {"do": "hold", "path", "count"} opens and keeps have each status.
"""
import json
import socket
import ssl
import sys
import threading
import time

import requests

from dialogue import commands, emit

PORT, CA = sys.argv[1], sys.argv[2]
BASE = f"https://localhost:{PORT}/operator/v1"
TOKEN = sys.stdin.readline().rstrip("\n")


def content(answer):
    try:
        return answer.json()
    except ValueError:
        return {"text": answer.text}


def login(session):
    answer = session.post(BASE + "/session", headers={"Authorization": f"Bearer {TOKEN}"})
    emit("answer", status=answer.status_code, json=content(answer), cookie=answer.headers.get("Set-Cookie", ""))


def ask(session, command):
    answer = session.request(
        command["method"], BASE + command["path"], headers=command.get("headers"), json=command.get("json"))
    emit("answer", status=answer.status_code, json=content(answer), cookie=answer.headers.get("Set-Cookie", ""))


def stream(session, command):
    name = ""
    count = 0
    try:
        with session.get(BASE + command["path"], stream=True, headers={"Accept": "text/event-stream"}) as answer:
            emit("answer", status=answer.status_code, type=answer.headers["Content-Type"])
            for line in answer.iter_lines(chunk_size=1, decode_unicode=True):
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                if line.startswith("data: "):
                    emit("event", name=name, json=json.loads(line.removeprefix("data: ")))
                    count += 1
                    if count == command.get("events"):
                        break
    except requests.RequestException as error:
        emit("ended", problem=type(error).__name__)
        return
    emit("ended", problem="")


def stall(session, command):
    """Sends many requests for a long answer, and reads nothing for a time."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    raw.connect(("127.0.0.1", int(PORT)))
    peer = ssl.create_default_context(cafile=CA).wrap_socket(raw, server_hostname="localhost")
    head = f"GET /operator/v1{command['path']} HTTP/1.1\r\nHost: localhost:{PORT}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    peer.sendall(head.encode() * command["count"])
    time.sleep(command["seconds"])
    received = 0
    try:
        while part := peer.recv(65_536):
            received += len(part)
        emit("stalled", received=received, problem="")
    except OSError as error:
        emit("stalled", received=received, problem=type(error).__name__)


held = []


def hold(command):
    """Opens many streams and keeps them, and counts the statuses of their answers."""
    statuses = {}
    for _ in range(command["count"]):
        raw = socket.create_connection(("127.0.0.1", int(PORT)))
        peer = ssl.create_default_context(cafile=CA).wrap_socket(raw, server_hostname="localhost")
        peer.sendall(
            f"GET /operator/v1{command['path']} HTTP/1.1\r\nHost: localhost:{PORT}\r\n"
            f"Authorization: Bearer {TOKEN}\r\n\r\n".encode())
        status = peer.recv(12).decode()[9:]
        statuses[status] = statuses.get(status, 0) + 1
        held.append(peer)
    emit("held", statuses=statuses)


def main():
    session = requests.Session()
    session.verify = CA
    session.trust_env = False
    emit("ready")
    for command in commands():
        if command["do"] == "login":
            login(session)
        elif command["do"] == "ask":
            ask(session, command)
        elif command["do"] == "hold":
            hold(command)
        else:
            act = {"stream": stream, "stall": stall}[command["do"]]
            threading.Thread(target=act, args=(session, command), daemon=True).start()


main()
