"""An app server on a bare socket, for behaviour that no library shows. Arguments: port, sender; the key on standard input."""
import base64
import html
import json
import re
import socket
import ssl
import sys

from dialogue import arguments, commands, emit

HEADER = (
    '<stream:stream to="gcm.googleapis.com" version="1.0" xmlns="jabber:client" '
    'xmlns:stream="http://etherx.jabber.org/streams">'
)
BIND = '<iq type="set" id="b"><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/></iq>'


def auth(sender, key):
    text = base64.b64encode(f"\0{sender}\0{key}".encode()).decode()
    return f'<auth mechanism="PLAIN" xmlns="urn:ietf:params:xml:ns:xmpp-sasl">{text}</auth>'


class Bare:
    """A connection; a read returns one TLS record, which is one stanza."""

    def __init__(self, port, segment=None, receive=None):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        plain = socket.socket()
        # A small segment size makes the kernel's buffers as small as on a slow link.
        if segment:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
        if receive:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        plain.settimeout(20)
        plain.connect(("127.0.0.1", port))
        self.tls = context.wrap_socket(plain, server_hostname="gcm.googleapis.com")

    def send(self, text):
        self.tls.sendall(text.encode())

    def read(self):
        """Returns a record, an empty string at the end, or None if the connection broke."""
        try:
            return self.tls.recv(65536).decode()
        except (ssl.SSLError, ConnectionError):
            return None

    def end_input(self):
        """Closes the sending direction."""
        socket.socket.shutdown(self.tls, socket.SHUT_WR)

    def log_in(self, sender, key):
        self.send(HEADER)
        self.read(), self.read()
        self.send(auth(sender, key))
        answer = self.read()
        if answer and "<success" in answer:
            self.send(HEADER)
            self.read(), self.read()
            self.send(BIND)
            self.read()
        return answer


def messages(count, token):
    return "".join(
        '<message><gcm xmlns="google:mobile:data">{"to":"%s","message_id":"m%d","collapse_key":"k"}</gcm></message>'
        % (token, number)
        for number in range(count)
    )


def flood(port, sender, key, command):
    """Sends more messages than any window holds, ends the stream as the command specifies, and only then reads."""
    bare = Bare(port)
    bare.log_in(sender, key)
    bare.send(messages(command["count"], command["token"]) + command.get("last", ""))
    if command.get("half"):
        bare.end_input()
    answers = []
    while record := bare.read():
        answers.append(record)
    ids = [found.group(1) for found in (re.search('"message_id":"(m[0-9]+)"', text) for text in answers) if found]
    emit("answers", ids=len(set(ids)), last=answers[-1] if answers else "")


def guess(port, sender, key, command):
    """Attempts logins with a wrong key until the answer is another one."""
    failures = 0
    other = ""
    for _ in range(command["connections"]):
        try:
            bare = Bare(port)
            bare.send(HEADER)
            bare.read(), bare.read()
            while True:
                bare.send(auth(sender, "not the key"))
                answer = bare.read() or ""
                if "<not-authorized" not in answer:
                    other = answer if "<failure" in answer else other
                    break
                failures += 1
        except OSError:
            break
    emit("guessed", failures=failures, other=other)


class Dialogue:
    """An app server whose stanzas come from commands."""

    def __init__(self, port, sender, key):
        self.bare = Bare(port)
        self.bare.log_in(sender, key)
        self.text = ""
        self.receipts = []

    def read(self):
        """Reads a record. Returns the answers in it by ID, or None at the end."""
        record = self.bare.read()
        if not record:
            return None
        *whole, self.text = (self.text + record).split("</message>")
        answers = {}
        for stanza in whole:
            found = json.loads(html.unescape(re.search("{.*}", stanza).group(0)))
            kind = found.get("message_type")
            if kind == "receipt":
                self.receipts.append(found["data"]["original_message_id"])
            elif kind in ("ack", "nack"):
                answers[found["message_id"]] = found.get("error", kind)
        return answers

    def exchange(self, stanzas, count):
        """Sends stanzas, and reads that number of answers."""
        self.bare.send("".join(
            '<message><gcm xmlns="google:mobile:data">%s</gcm></message>' % html.escape(json.dumps(stanza))
            for stanza in stanzas
        ))
        answers = {}
        while len(answers) < count:
            answers.update(self.read() or {})
        return answers


def main():
    port, sender, key = arguments()
    kept = []
    dialogue = None
    answers = {}
    for command in commands():
        if command["do"] == "flood":
            flood(port, sender, key, command)
        elif command["do"] == "exchange":
            dialogue = dialogue or Dialogue(port, sender, key)
            answers = dialogue.exchange(command["stanzas"], command["count"])
            emit("answered", answers=answers)
        elif command["do"] == "rest":
            # What the connection still has, with the last answers.
            while (more := dialogue.read()) is not None:
                answers.update(more)
            emit("answered", answers=answers)
        elif command["do"] == "receipts":
            while len(dialogue.receipts) < command["count"]:
                dialogue.read()
            emit("receipts", of=dialogue.receipts)
        elif command["do"] == "guess":
            guess(port, sender, key, command)
        elif command["do"] == "second":
            # First a failed attempt as another sender.
            bare = Bare(port)
            bare.send(HEADER)
            bare.read(), bare.read()
            bare.send(auth(command["first"], "not the key"))
            bare.read()
            bare.send(auth(sender, key))
            emit("logged in", answer=bare.read())
            kept.append(bare)
        elif command["do"] == "read_slowly":
            # Reads a backlog over a slow link.
            bare = Bare(port, segment=536, receive=4096)
            bare.log_in(sender, key)
            found, text = set(), ""
            while len(found) < command["count"]:
                record = bare.read()
                if not record:
                    break
                text += record
                *whole, text = text.split("</message>")
                found.update(match for stanza in whole for match in re.findall('"message_id":"([^"]+)"', stanza))
            emit("read", messages=len(found))


sys.exit(main())
