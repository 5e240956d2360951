"""A web app with unmodified firebase-messaging 0.4: registers or logs in again, then listens. Run with hostmap on PYTHONPATH.

    STATE SENDER PINGSECONDS    stores credentials and received IDs in STATE; pings after PINGSECONDS without traffic

Reports "ready" with the token and whether it is fresh, every "message", and the log of the library. It disconnects when its input
ends.
"""
import asyncio
import json
import logging
import os
import sys

import aiohttp
from dialogue import emit
from firebase_messaging import FcmPushClient, FcmRegisterConfig
from firebase_messaging.fcmpushclient import FcmPushClientConfig

STATE, SENDER, PING_SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])


class Relay(logging.Handler):
    """Reports the log of the library, the only place where its counters and heartbeats appear."""

    def emit(self, record):
        emit("log", level=record.levelname, text=record.getMessage())


def load():
    if not os.path.exists(STATE):
        return {"credentials": None, "received": []}
    with open(STATE) as file:
        return json.load(file)


async def main():
    known = load()
    fresh = []

    def save():
        with open(STATE, "w") as file:
            json.dump(known, file)

    def made(credentials):
        known["credentials"] = credentials
        fresh.append(True)
        save()

    def received(message, persistent_id, _):
        known["received"].append(persistent_id)
        save()
        emit("message", message=message, persistent_id=persistent_id)

    config = FcmRegisterConfig("project", f"1:{SENDER}:web:0123456789abcdef", "api-key", SENDER)
    # The other resolver of aiohttp queries name servers itself, which bypasses the redirection.
    connector = aiohttp.TCPConnector(resolver=aiohttp.ThreadedResolver())
    async with aiohttp.ClientSession(connector=connector) as session:
        client = FcmPushClient(
            received, config, known["credentials"], made, received_persistent_ids=list(known["received"]),
            config=FcmPushClientConfig(client_heartbeat_interval=PING_SECONDS, reset_interval=1),
            http_client_session=session)
        token = await client.checkin_or_register()
        emit("ready", token=token, fresh=bool(fresh), device=client.credentials["gcm"]["android_id"])
        await client.start()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await client.stop()
        await asyncio.gather(*client.tasks, return_exceptions=True)


library = logging.getLogger("firebase_messaging")
library.setLevel(logging.DEBUG)
library.addHandler(Relay())
asyncio.run(main())
