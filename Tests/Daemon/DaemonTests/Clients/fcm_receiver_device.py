"""A web app with unmodified fcm-receiver 0.1: registers or logs in again, then listens. Run with hostmap on PYTHONPATH.

    STATE SENDER    stores credentials and received IDs in STATE

Reports "ready" with the token, every "message", messages that it could not decrypt as "unread", and each "status" of the
connection. Command: {"do": "topic", "name": "...", "end": bool}, answered by "topic". It disconnects when its input ends.
"""
import json
import os
import sys

from dialogue import commands, emit

sys.stdout = sys.stderr  # the library prints
from fcm_receiver.fcm_client import FCMClient  # noqa: E402

STATE, SENDER = sys.argv[1], sys.argv[2]


def save(client, keys):
    with open(STATE, "w") as file:
        json.dump({
            "keys": keys, "gcm_token": client.gcm_token, "fcm_token": client.fcm_token,
            "android_id": client.android_id, "security_token": client.security_token,
            "persistent_ids": client.persistent_ids,
        }, file)


client = FCMClient()
client.api_key, client.project_id, client.app_id = "api-key", "project", f"1:{SENDER}:web:0123456789abcdef"
fresh = not os.path.exists(STATE)
if fresh:
    keys = client.create_new_keys()
    client.register()
else:
    with open(STATE) as file:
        known = json.load(file)
    keys = known.pop("keys")
    client.load_keys(*keys)
    for name, value in known.items():
        setattr(client, name, value)
save(client, keys)
emit("ready", token=client.fcm_token, fresh=fresh, device=str(client.android_id))


def received(message, _):
    save(client, keys)
    emit("message", message=message["payload"], persistent_id=message["persistentId"])


client.on_notification_message = received
client.on_data_message = lambda data, _: emit("unread", data=repr(data))
client.on_raw_message = lambda stanza, _: emit("unread", data=repr(stanza))
client.on_connection_status = lambda status, _: emit("status", status=status)
client.start_listening()
for command in commands():
    change = client.unsubscribe_from_topic if command["end"] else client.subscribe_to_topic
    try:
        emit("topic", raw=change(command["name"])["raw"])
    except Exception as error:
        emit("topic", error=str(error))
client.close()
