"""A sender of notifications with aioapns 4.0: PORT CA KEYFILE KEYID TEAM TOPIC; APNs is expected on loopback.

On {"do": "send", "token": HEX, "payload": {…}, "lifetime": N, "collapse": ID, "priority": N} reports "result" with Apple's status.
"""
import asyncio
import ssl
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol

from dialogue import commands, emit


async def main():
    port, authority, key_file, key_id, team, topic = sys.argv[1:7]
    # The library has no option for them.
    APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(key_file) as file:
        key = file.read()
    context = ssl.create_default_context(cafile=authority)
    client = APNs(key=key, key_id=key_id, team_id=team, topic=topic, ssl_context=context)
    for command in commands():
        request = NotificationRequest(
            device_token=command["token"], message=command["payload"], time_to_live=command["lifetime"],
            collapse_key=command["collapse"], priority=command["priority"], push_type=PushType.ALERT)
        result = await client.send_notification(request)
        emit("result", status=result.status, reason=result.description)
    client.pool.close()


asyncio.run(main())
