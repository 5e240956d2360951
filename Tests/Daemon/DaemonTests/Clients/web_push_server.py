"""An application server with pywebpush 2.5 and a fresh VAPID key, which it reports first. REQUESTS_CA_BUNDLE is the CA.

Command: {"do": "push", "subscription": {...}, "text": "..."}, optionally with "encoding", "ttl", "urgency", "topic", "expires"
(seconds from now), "old" (the older form of VAPID) and "another_key". Answer: "pushed".
"""
import base64
import time

from cryptography.hazmat.primitives import serialization
from py_vapid import Vapid01, Vapid02
from pywebpush import WebPushException, webpush

from dialogue import commands, emit


def fresh(kind):
    vapid = kind()
    vapid.generate_keys()
    return vapid


def public_half(vapid):
    point = vapid.public_key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()


def push(command, key):
    claims = {"sub": "mailto:push@example.org"}
    if "expires" in command:
        claims["exp"] = int(time.time()) + command["expires"]
    if command.get("another_key"):
        key = fresh(Vapid02)
    if command.get("old"):
        key = Vapid01(private_key=key.private_key)
    headers = {name: command[name] for name in ("urgency", "topic") if name in command}
    return webpush(
        command["subscription"], command["text"], vapid_private_key=key, vapid_claims=claims,
        content_encoding=command.get("encoding", "aes128gcm"), ttl=command.get("ttl", 60), headers=headers, timeout=20,
    )


own = fresh(Vapid02)
emit("key", public=public_half(own))
for command in commands():
    try:
        answer = push(command, own)
    except WebPushException as error:
        answer = error.response
    emit("pushed", status=answer.status_code, location=answer.headers.get("location"), body=answer.text)
