"""A device with rustPlusPushReceiver 0.6: registers as an Android app, then listens. Run with hostmap on PYTHONPATH.

    register STATE SENDER    registers, stores the credentials in STATE, reports the token
    listen STATE             logs in with the credentials and persistent IDs of STATE, reports every message
"""
import json
import sys

from dialogue import emit
from push_receiver import PushReceiver
from push_receiver.android_fcm_register import AndroidFCM


def register(state, sender):
    credentials = AndroidFCM.register(
        "api-key", "project", sender, f"1:{sender}:android:0123456789abcdef", "com.example.app", "38918a453d07199354f8"
    )
    with open(state, "w") as file:
        json.dump({"credentials": credentials, "received": []}, file)
    emit("registered", token=credentials["fcm"]["token"])


def listen(state):
    with open(state) as file:
        known = json.load(file)

    def received(_, data, message):
        known["received"].append(message.persistent_id)
        with open(state, "w") as file:
            json.dump(known, file)
        emit("message", data=data, persistent_id=message.persistent_id, sender=message.from_ if hasattr(message, "from_") else None)

    receiver = PushReceiver(known["credentials"], list(known["received"]))
    receiver.checkin_thread = None  # the constructor does not set it
    emit("listening")
    receiver.listen(received)


if sys.argv[1] == "register":
    register(sys.argv[2], sys.argv[3])
else:
    listen(sys.argv[2])
