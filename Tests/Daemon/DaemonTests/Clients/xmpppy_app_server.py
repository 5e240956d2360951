"""An app server with xmpppy 0.7, structured like the Python sample that Google published."""
import json
import queue
import select
import ssl
import threading

import xmpp

from dialogue import arguments, commands, payload_of, emit

# The sample dates from a time when Python did not verify certificates.
ssl._create_default_https_context = ssl._create_unverified_context
ssl.create_default_context = ssl._create_unverified_context


def received(_, stanza):
    gcm = stanza.getTag("gcm")
    emit("message", type=stanza.getType(), json=payload_of(gcm.getData()) if gcm else None)


def main():
    port, sender, key = arguments()
    client = xmpp.Client("gcm.googleapis.com", debug=[])
    client.connect(server=("127.0.0.1", port), secure=1, use_srv=False)
    if not client.auth(sender, key):
        emit("refused")
        return
    client.RegisterHandler("message", received)
    client.RegisterDisconnectHandler(lambda: emit("closed"))
    emit("connected", jid=f"{client.User}@{client.Server}/{client.Resource}")
    pending = queue.Queue()

    def obey():
        for command in commands():
            pending.put(command)
        pending.put(None)

    threading.Thread(target=obey, daemon=True).start()
    while client.isConnected():
        try:
            if client.Process(0.1) in (0, None) and not client.isConnected():
                break
        except (OSError, select.error, AttributeError):
            emit("closed")
            return
        try:
            command = pending.get_nowait()
        except queue.Empty:
            continue
        if command is None:
            break
        if command["do"] == "send":
            text = xmpp.simplexml.XMLescape(json.dumps(command["json"]))
            client.send(
                "<message id=''><gcm xmlns='google:mobile:data'>" + text.replace('"', "&quot;") + "</gcm></message>"
            )


main()
