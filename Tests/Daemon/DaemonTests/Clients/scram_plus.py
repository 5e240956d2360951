"""A login with SCRAM-SHA-256-PLUS over pyOpenSSL, and variants that must fail: PORT SENDER CASE [TLS1.2].

CASE: offer (reports the offered mechanisms only), plus, downgrade (claims that no -PLUS was offered), other-channel (binds to
another channel).
"""
import base64
import hashlib
import hmac
import re
import secrets
import socket
import sys

from OpenSSL import SSL

from dialogue import arguments, emit

SASL = 'xmlns="urn:ietf:params:xml:ns:xmpp-sasl"'
HEADER = '<stream:stream to="gcm.googleapis.com" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">'


class Stream:
    def __init__(self, port, is_tls12):
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        if is_tls12:
            context.set_max_proto_version(SSL.TLS1_2_VERSION)
        plain = socket.create_connection(("127.0.0.1", port))
        self.tls = SSL.Connection(context, plain)
        self.tls.set_connect_state()
        self.tls.do_handshake()
        self.text = ""

    def write(self, text):
        self.tls.sendall(text.encode())

    def until(self, pattern):
        while not (match := re.search(pattern, self.text)):
            self.text += self.tls.recv(65536).decode()
        self.text = self.text[match.end():]
        return match


def digest(key, text):
    return hmac.new(key, text, hashlib.sha256).digest()


def message_of(element):
    return base64.b64decode(element.group(2) or "").decode()


def login(stream, sender, key, case):
    mechanism = "SCRAM-SHA-256" if case == "downgrade" else "SCRAM-SHA-256-PLUS"
    header = "y,," if case == "downgrade" else "p=tls-exporter,,"
    binding = stream.tls.export_keying_material(b"EXPORTER-Channel-Binding", 32, b"")
    if case == "other-channel":
        binding = secrets.token_bytes(32)
    bare = f"n={sender}@gcm.googleapis.com,r={secrets.token_urlsafe(18)}"
    first = base64.b64encode((header + bare).encode()).decode()
    stream.write(f'<auth {SASL} mechanism="{mechanism}">{first}</auth>')
    answer = stream.until(r"<(challenge|failure)[^>]*>([A-Za-z0-9+/=]*)")
    if answer.group(1) == "failure":
        return "refused", {}
    challenge = message_of(answer)
    fields = dict(field.split("=", 1) for field in challenge.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", key.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
    client_key = digest(salted, b"Client Key")
    bound = base64.b64encode(header.encode() + (binding if header[0] == "p" else b"")).decode()
    unproven = f"c={bound},r={fields['r']}"
    signed = f"{bare},{challenge},{unproven}".encode()
    signature = digest(hashlib.sha256(client_key).digest(), signed)
    proof = base64.b64encode(bytes(a ^ b for a, b in zip(client_key, signature))).decode()
    final = base64.b64encode(f"{unproven},p={proof}".encode()).decode()
    stream.write(f"<response {SASL}>{final}</response>")
    answer = stream.until(r"<(success|failure)[^>]*>([A-Za-z0-9+/=]*)")
    if answer.group(1) == "failure":
        return "refused", {"salt": fields["s"]}
    ours = "v=" + base64.b64encode(digest(digest(salted, b"Server Key"), signed)).decode()
    return "connected", {"is_mutual": message_of(answer) == ours, "iterations": int(fields["i"])}


def main():
    port, sender, key = arguments()
    stream = Stream(port, "TLS1.2" in sys.argv[4:])
    stream.write(HEADER)
    offer = stream.until(r"<stream:features>.*</stream:features>").group(0)
    emit("offered", mechanisms=re.findall(r"<mechanism>([^<]*)", offer), types=re.findall(r"type=\"([^\"]*)", offer))
    if sys.argv[3] != "offer":
        event, facts = login(stream, sender, key, sys.argv[3])
        emit(event, **facts)
    sys.stdin.read()


main()
