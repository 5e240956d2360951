"""An app server with slixmpp 1.17: PORT SENDER [sm]; with sm it uses stream management (XEP-0198)."""
import asyncio
import json
import ssl
import sys
import threading

from slixmpp import ClientXMPP
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import MatchXPath

from dialogue import arguments, commands, payload_of, emit

GCM = "{google:mobile:data}gcm"


class AppServer(ClientXMPP):
    def __init__(self, sender, key):
        super().__init__(f"{sender}@gcm.googleapis.com", key)
        self.enable_direct_tls, self.enable_starttls, self.enable_plaintext = True, False, False
        self.ssl_context.check_hostname = False
        self.ssl_context.verify_mode = ssl.CERT_NONE
        self.register_plugin("xep_0199")
        self.register_handler(Callback("ccs", MatchXPath("{jabber:client}message"), self.received))
        self.add_event_handler("session_start", self.started)
        self.add_event_handler("failed_auth", lambda _: emit("refused"))
        self.add_event_handler("disconnected", self.ended)
        self.comes_again = None
        if "sm" in sys.argv[3:]:
            self.register_plugin("xep_0198")
            self.add_event_handler("sm_enabled", lambda _: emit("sm_enabled"))
            self.add_event_handler("session_resumed", lambda _: emit("resumed"))

    def started(self, _):
        emit("connected", jid=str(self.boundjid), mechanism=self["feature_mechanisms"].mech.name)

    def received(self, stanza):
        gcm = stanza.xml.find(GCM)
        emit("message", type=stanza.xml.get("type"), json=payload_of(gcm.text) if gcm is not None else None)

    def ended(self, _):
        emit("closed")
        if self.comes_again:
            port, self.comes_again = self.comes_again, None
            self.connect("127.0.0.1", port)

    def drop(self, port):
        """Aborts the connection and reconnects."""
        self.comes_again = port
        self.abort()

    def submit(self, payload):
        message = ET.Element("{jabber:client}message")
        ET.SubElement(message, GCM).text = json.dumps(payload)
        if "sm" in sys.argv[3:]:
            # As a stanza of the library, which counts it.
            counted = self.make_message(mto="gcm.googleapis.com")
            counted.xml.append(message[0])
            counted.send()
        else:
            self.send_raw(ET.tostring(message, encoding="unicode"))

    async def ping(self):
        await self["xep_0199"].ping("gcm.googleapis.com", timeout=10)
        emit("pong")


async def main():
    port, sender, key = arguments()
    client = AppServer(sender, key)
    client.connect("127.0.0.1", port)
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def obey():
        for command in commands():
            if command["do"] == "send":
                loop.call_soon_threadsafe(client.submit, command["json"])
            elif command["do"] == "drop":
                loop.call_soon_threadsafe(client.drop, port)
            elif command["do"] == "ping":
                asyncio.run_coroutine_threadsafe(client.ping(), loop)
        loop.call_soon_threadsafe(done.set)

    threading.Thread(target=obey, daemon=True).start()
    await done.wait()
    await client.disconnect(wait=2)


asyncio.run(main())
