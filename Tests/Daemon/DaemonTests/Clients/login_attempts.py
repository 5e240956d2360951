"""Attempts logins at the app server port, one per connection, and reports their results.

login_attempts.py PORT; standard input has lines "SENDER KEY [CLIENT]". With CLIENT, an IPv4 address, the connection starts with a
PROXY header of version 1. Each line is answered with one JSON line: {"event": "attempt", "result": "success" | CONDITION | "closed"}.
"""

import json
import re
import socket
import ssl
import sys
from base64 import b64encode


def attempt(port, sender, key, client):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        plain = socket.create_connection(("127.0.0.1", port), timeout=30)
        if client:
            plain.sendall(f"PROXY TCP4 {client} 127.0.0.1 40000 {port}\r\n".encode())
        with context.wrap_socket(plain) as link:
            link.sendall(
                b'<stream:stream to="gcm.googleapis.com" version="1.0" xmlns="jabber:client" '
                b'xmlns:stream="http://etherx.jabber.org/streams">'
            )
            payload = b64encode(f"\0{sender}@gcm.googleapis.com\0{key}".encode())
            link.sendall(
                b'<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">' + payload + b"</auth>"
            )
            text = b""
            while True:
                if b"<success" in text:
                    return "success"
                found = re.search(rb"<failure[^>]*><([a-z-]+)", text)
                if found:
                    return found.group(1).decode()
                part = link.recv(65536)
                if not part:
                    return "closed"
                text += part
    except (OSError, ssl.SSLError):
        return "closed"


for line in sys.stdin:
    sender, key, *client = line.split()
    result = attempt(int(sys.argv[1]), sender, key, client[0] if client else None)
    print(json.dumps({"event": "attempt", "result": result}), flush=True)
