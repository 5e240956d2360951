"""A client of the HTTPS port with httpx, which async app servers use. Arguments: port, CA, sender.

Commands: {"do": "burst", "count": N, "http2": bool}: N concurrent check-ins on one connection, then N registrations;
{"do": "raw", "alpn": [...], "name": "..."}: a handshake and one HTTP/1.1 request on a bare socket.
"""
import asyncio
import socket
import ssl
import sys

import httpx

from dialogue import commands, emit

PORT, AUTHORITY, SENDER = int(sys.argv[1]), sys.argv[2], sys.argv[3]
# The check-in of an old Android version.
CHECK_IN = bytes.fromhex("221560036a110803120b36332e302e333233342e3018017003")


def fixed(answer):
    """Returns the fixed64 fields of a protobuf message by field number."""
    found, at = {}, 0
    while at < len(answer):
        field, kind = answer[at] >> 3, answer[at] & 7
        at += 1
        if kind == 1:
            found[field] = int.from_bytes(answer[at:at + 8], "little")
            at += 8
        elif kind == 2:
            at += 1 + answer[at]
        else:
            while answer[at] & 0x80:
                at += 1
            at += 1
    return found


async def enrol(client):
    """Checks in a device. Returns the response, its Android ID and its security token."""
    answer = await client.post(
        "/checkin", content=CHECK_IN, headers={"content-type": "application/x-protobuf"})
    numbers = fixed(answer.content)
    return answer, numbers.get(7), numbers.get(8)


async def register(client, device, secret):
    return await client.post(
        "/c2dm/register3", headers={"authorization": f"AidLogin {device}:{secret}"},
        data={"app": "com.example.app", "device": str(device), "sender": SENDER})


async def burst(command):
    context = ssl.create_default_context(cafile=AUTHORITY)
    connections = set()

    async def note(answer):
        stream = answer.extensions["network_stream"]
        connections.add(stream.get_extra_info("client_addr"))

    async with httpx.AsyncClient(
            http2=command["http2"], verify=context, base_url=f"https://localhost:{PORT}", timeout=60,
            limits=httpx.Limits(max_connections=1), event_hooks={"response": [note]}) as client:
        devices = await asyncio.gather(*(enrol(client) for _ in range(command["count"])))
        answers = await asyncio.gather(*(register(client, device, secret) for _, device, secret in devices))
    everything = [answer for answer, _, _ in devices] + answers
    emit(
        "burst", versions=sorted({answer.http_version for answer in everything}), connections=len(connections),
        good=sum(answer.status_code == 200 for answer in everything),
        devices=len({device for _, device, _ in devices}),
        tokens=len({answer.text for answer in answers if answer.text.startswith("token=")}))


def raw(command):
    context = ssl.create_default_context(cafile=AUTHORITY)
    if command["alpn"]:
        context.set_alpn_protocols(command["alpn"])
    port = command.get("port", PORT)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname=command["name"]) as tls:
            chosen = tls.selected_alpn_protocol()
            line = b""
            if port == PORT:
                tls.sendall(b"GET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                line = tls.recv(65536).split(b"\r\n")[0]
    emit("raw", chosen=chosen or "", line=line.decode())


for order in commands():
    if order["do"] == "burst":
        asyncio.run(burst(order))
    else:
        raw(order)
