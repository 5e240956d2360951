"""An app server over XMPP: answers each message of a device with its text in capitals.

    xmpp_app_server.py SENDER_ID KEY_FILE CA_FILE [TOKEN]

With a registration token it greets that device first. Host and port are in CCS_HOST and CCS_PORT (127.0.0.1, 5235).
"""
import asyncio
import json
import os
import sys
import uuid

from slixmpp import ClientXMPP
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

GCM = "{google:mobile:data}gcm"


class AppServer(ClientXMPP):
    def __init__(self, sender, key, authority, greeted):
        super().__init__(f"{sender}@gcm.googleapis.com", key)
        # TLS from the first byte; the certificate must come from the CA of ccsd.
        self.enable_direct_tls, self.enable_starttls, self.enable_plaintext = True, False, False
        self.ca_certs = authority
        self.greeted = greeted
        self.address = os.environ.get("CCS_HOST", "127.0.0.1"), int(os.environ.get("CCS_PORT", "5235"))
        self.register_handler(Callback("ccs", MatchXPath("{jabber:client}message"), self.received))
        self.add_event_handler("session_start", self.started)
        self.add_event_handler("failed_auth", lambda _: sys.exit("refused: wrong sender ID or server key"))
        self.add_event_handler("disconnected", self.ended)

    def started(self, _):
        print("connected as", self.boundjid, flush=True)
        if self.greeted:
            self.submit({"to": self.greeted, "message_id": str(uuid.uuid4()), "data": {"text": "Hello"}})
            self.greeted = None

    def ended(self, _):
        # After a drain, a restart or a network failure: connect again, after a pause.
        asyncio.get_running_loop().call_later(1, self.connect, *self.address)

    def received(self, stanza):
        payload = json.loads(stanza.xml.find(GCM).text)
        kind = payload.get("message_type")
        if kind is None:
            # A message of a device. It is stored first (here: printed), then acknowledged; else ccsd sends it again.
            print("message", json.dumps(payload["data"]), flush=True)
            self.submit({"to": payload["from"], "message_id": payload["message_id"], "message_type": "ack"})
            answer = {"text": payload["data"].get("text", "").upper()}
            self.submit({"to": payload["from"], "message_id": str(uuid.uuid4()), "data": answer})
        elif kind == "ack":
            print("accepted", payload["message_id"], flush=True)
            if "registration_id" in payload:
                print("replace the token by", payload["registration_id"], flush=True)
        elif kind == "nack":
            print("refused", payload["error"], payload.get("error_description", ""), flush=True)
        elif kind == "control":
            # CONNECTION_DRAINING: send nothing more on this connection, which ccsd is about to close.
            print("control", payload["control_type"], flush=True)

    def submit(self, payload):
        message = ET.Element("{jabber:client}message")
        ET.SubElement(message, GCM).text = json.dumps(payload)
        self.send_raw(ET.tostring(message, encoding="unicode"))


async def main():
    sender, key_file, authority, *greeted = sys.argv[1:]
    with open(key_file, encoding="ascii") as file:
        key = file.readline().strip()
    client = AppServer(sender, key, authority, greeted[0] if greeted else None)
    client.connect(*client.address)
    await asyncio.Event().wait()


asyncio.run(main())
