"""An app server with aioxmpp 0.13."""
import asyncio
import json
import threading

import aioxmpp
import aioxmpp.connector
import aioxmpp.stanza
import aioxmpp.xso

from dialogue import arguments, commands, payload_of, emit


class GCM(aioxmpp.xso.XSO):
    TAG = ("google:mobile:data", "gcm")
    text = aioxmpp.xso.Text(default=None)


aioxmpp.stanza.Message.xep_gcm = aioxmpp.xso.Child([GCM])


async def main():
    port, sender, key = arguments()
    client = aioxmpp.Client(
        aioxmpp.JID.fromstr(f"{sender}@gcm.googleapis.com"),
        aioxmpp.make_security_layer(key, no_verify=True),
        override_peer=[("127.0.0.1", port, aioxmpp.connector.XMPPOverTLSConnector())],
        max_initial_attempts=1,
    )
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def received(stanza):
        gcm = stanza.xep_gcm
        emit("message", type=stanza.type_.value, json=payload_of(gcm.text) if gcm else None)

    client.stream.app_inbound_message_filter.register(received, 0)
    client.on_stream_established.connect(lambda: emit("connected", jid=str(client.local_jid)))

    def failed(error):
        emit("refused" if isinstance(error, aioxmpp.errors.StreamNegotiationFailure) or "auth" in type(error).__name__.lower()
             else "closed", error=str(error))
        done.set()

    client.on_failure.connect(failed)
    client.on_stream_suspended.connect(lambda *_: emit("closed"))
    client.start()

    def submit(payload):
        message = aioxmpp.stanza.Message(type_=aioxmpp.MessageType.NORMAL)
        message.xep_gcm = GCM()
        message.xep_gcm.text = json.dumps(payload)
        client.enqueue(message)

    def obey():
        for command in commands():
            if command["do"] == "send":
                loop.call_soon_threadsafe(submit, command["json"])
        loop.call_soon_threadsafe(done.set)

    threading.Thread(target=obey, daemon=True).start()
    await done.wait()
    client.stop()
    await asyncio.sleep(0.5)


asyncio.run(main())
