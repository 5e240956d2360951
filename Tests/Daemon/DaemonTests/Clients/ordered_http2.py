"""An app server that sends many requests in a fixed order over one HTTP/2 connection.

Arguments: PORT CA [KEYFILE]; the server key is the first line of standard input, KEYFILE is the key file of a service account.

On {"do": "send", "requests": [[METHOD, PATH, BODY], ...], "at_once": N} reports "sent" with the answers, each as STATUS and JSON, in
the order of the requests. Requests to HTTP v1 carry an access token, the others the server key; BODY is JSON or null.
"""
import json
import socket
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events
import jwt
import requests

from dialogue import commands, emit

SECONDS = 120


def access_token(port, authority, key_file):
    """Returns an access token for the account of a key file."""
    with open(key_file) as file:
        account = json.load(file)
    now = int(time.time())
    claims = {
        "iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
        "scope": "https://www.googleapis.com/auth/firebase.messaging",
    }
    assertion = jwt.encode(claims, account["private_key"], "RS256", headers={"kid": account["private_key_id"]})
    form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
    answer = requests.post(f"https://localhost:{port}/token", data=form, verify=authority, timeout=SECONDS)
    answer.raise_for_status()
    return answer.json()["access_token"]


class Connection:
    """One HTTP/2 connection that opens its streams in the order of the requests."""

    def __init__(self, port, authority, credentials):
        context = ssl.create_default_context(cafile=authority)
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(
            socket.create_connection(("localhost", port), timeout=SECONDS), server_hostname="localhost")
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.credentials = credentials
        self.answers = {}
        self.open = {}
        self.settled = False
        while not self.settled:
            self.turn()

    def submit(self, index, method, path, body):
        """Opens a stream for a request."""
        data = b"" if body is None else json.dumps(body).encode()
        while self.h2.outbound_flow_control_window < len(data):
            self.turn()
        stream = self.h2.get_next_available_stream_id()
        kind = "v1" if path.startswith("/v1/projects/") else "legacy"
        headers = [
            (":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path),
            ("authorization", self.credentials[kind])]
        if data:
            headers.append(("content-type", "application/json"))
        self.h2.send_headers(stream, headers, end_stream=not data)
        if data:
            self.h2.send_data(stream, data, end_stream=True)
        self.open[stream] = index
        self.answers[index] = [0, b""]

    def turn(self):
        """Writes what waits, reads once and handles the events."""
        self.socket.sendall(self.h2.data_to_send())
        data = self.socket.recv(65_536)
        if not data:
            raise ConnectionError("the server has closed the connection")
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RemoteSettingsChanged):
                self.settled = True
            elif isinstance(event, h2.events.ResponseReceived):
                self.answers[self.open[event.stream_id]][0] = int(dict(event.headers)[":status"])
            elif isinstance(event, h2.events.DataReceived):
                self.answers[self.open[event.stream_id]][1] += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset)):
                self.open.pop(event.stream_id, None)
            elif isinstance(event, h2.events.ConnectionTerminated):
                raise ConnectionError(f"GOAWAY {event.error_code}")
        self.socket.sendall(self.h2.data_to_send())

    def send(self, wanted, at_once):
        """Sends requests, at most `at_once` of them without an answer. Returns the answers in order."""
        for index, (method, path, body) in enumerate(wanted):
            while len(self.open) >= at_once:
                self.turn()
            self.submit(index, method, path, body)
        while self.open:
            self.turn()
        return [self.answers[index] for index in range(len(wanted))]


def decoded(body):
    try:
        return json.loads(body)
    except ValueError:
        return {"text": body.decode("utf-8", "replace")}


def main():
    port, authority, key_file = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    key = sys.stdin.readline().strip()
    credentials = {"legacy": "key=" + key, "v1": "Bearer " + access_token(port, authority, key_file)}
    emit("ready")
    for command in commands():
        # A new connection each time: the server closes idle ones.
        connection = Connection(port, authority, credentials)
        answers = connection.send(command["requests"], command.get("at_once", 1))
        emit("sent", answers=[[status, decoded(body)] for status, body in answers])


if __name__ == "__main__":
    main()
