"""A server in the place of Apple that does what Apple never should: PORT CERTIFICATE KEY KIND.

Reports "ready", and "connected" for each TLS connection. KIND is

  name       its certificate is for another name: use a certificate without names
  http1      answers in HTTP/1.1, and agrees on no protocol
  garbage    answers with bytes of no protocol
  mute       accepts connections, and never sends a byte
  slow       sends its SETTINGS after two seconds, then answers 200
  closed     allows no stream for two seconds, refuses the first one, then allows one at a time, and answers 200
  headers    answers 200 with 200 KiB of header fields
  body       answers 400 with a body of a megabyte
  drip       answers 400 with a body of which one byte comes each second
  hints      answers 103 twice, then 200 with trailers
  portal     answers 200 with a page, as a captive portal does
  relay      answers 403 with JSON like Apple's, as a relay does
These two answers have no apns-id, the other ones with 200 have that of the request.
"""
import asyncio
import ssl
import sys

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings

from dialogue import emit

STREAMS = h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS


class Lenient(h2.connection.H2Connection):
    """The library would end a connection on which the client opens a stream too many."""

    @property
    def open_inbound_streams(self):
        return -1


class Strange(asyncio.Protocol):
    """One connection."""

    def __init__(self, kind):
        self.kind = kind
        self.http2 = Lenient(h2.config.H2Configuration(client_side=False))
        self.is_open = self.is_closed = False
        self.bodies = {}
        self.ids = {}
        self.early = b""

    def connection_made(self, transport):
        self.transport = transport
        emit("connected")
        if self.kind in ("http1", "garbage", "mute", "name"):
            return
        wait = 2 if self.kind == "slow" else 0
        asyncio.get_running_loop().call_later(wait, self.begin)

    def begin(self):
        if self.kind == "closed":
            self.http2.local_settings = h2.settings.Settings(client=False, initial_values={STREAMS: 0})
            self.is_closed = True
            asyncio.get_running_loop().call_later(2, self.allow)
        self.http2.initiate_connection()
        self.is_open = True
        self.take(self.early)

    def allow(self):
        self.is_closed = False
        self.http2.update_settings({STREAMS: 1})
        self.flush()

    def data_received(self, data):
        if self.kind == "http1":
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.transport.close()
        elif self.kind == "garbage":
            self.transport.write(bytes(range(256)) * 64)
        elif self.kind not in ("mute", "name"):
            if self.is_open:
                self.take(data)
            else:
                self.early += data

    def take(self, data):
        try:
            for event in self.http2.receive_data(data) if data else []:
                if isinstance(event, h2.events.RequestReceived):
                    self.ids[event.stream_id] = dict(event.headers).get("apns-id") or dict(event.headers).get(b"apns-id")
                elif isinstance(event, h2.events.StreamEnded):
                    self.answer(event.stream_id)
                elif isinstance(event, h2.events.WindowUpdated):
                    for stream in list(self.bodies):
                        self.pour(stream)
        except h2.exceptions.ProtocolError:
            self.transport.abort()
        self.flush()

    def answer(self, stream):
        send = self.http2.send_headers
        if self.is_closed:
            self.http2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
            return
        identifier = ("apns-id", self.ids.pop(stream))
        match self.kind:
            case "headers":
                send(stream, [(":status", "200")] + [(f"x-{n}", "y" * 1_000) for n in range(200)], end_stream=True)
            case "body":
                send(stream, [(":status", "400")])
                self.bodies[stream] = 1_000_000
                self.pour(stream)
            case "drip":
                send(stream, [(":status", "400")])
                self.drip(stream)
            case "hints":
                for _ in range(2):
                    send(stream, [(":status", "103"), ("link", "</a>")])
                send(stream, [(":status", "200"), identifier])
                send(stream, [("x-end", "1")], end_stream=True)
            case "portal":
                send(stream, [(":status", "200"), ("content-type", "text/html")])
                self.http2.send_data(stream, b"<html>Log in</html>", end_stream=True)
            case "relay":
                send(stream, [(":status", "403"), ("content-type", "application/json")])
                self.http2.send_data(stream, b'{"reason":"Forbidden"}', end_stream=True)
            case _:
                send(stream, [(":status", "200"), identifier], end_stream=True)

    def pour(self, stream):
        """Sends as much of a body as the window allows."""
        try:
            while self.bodies.get(stream, 0) > 0:
                size = min(self.http2.local_flow_control_window(stream), 16_384, self.bodies[stream])
                if size == 0:
                    break
                self.http2.send_data(stream, b"x" * size)
                self.bodies[stream] -= size
        except (h2.exceptions.ProtocolError, KeyError):
            self.bodies.pop(stream, None)

    def drip(self, stream):
        try:
            self.http2.send_data(stream, b"x")
        except h2.exceptions.ProtocolError:
            return
        self.flush()
        asyncio.get_running_loop().call_later(1, self.drip, stream)

    def flush(self):
        if not self.transport.is_closing():
            self.transport.write(self.http2.data_to_send())


async def main():
    port, certificate, key, kind = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    if kind != "http1":
        context.set_alpn_protocols(["h2"])
    server = await asyncio.get_running_loop().create_server(lambda: Strange(kind), "127.0.0.1", port, ssl=context)
    emit("ready")
    async with server:
        await server.serve_forever()


asyncio.run(main())
