#!/usr/bin/env python3
"""An HTTPS endpoint of a webhook that verifies, and fails as a plan demands.

    webhook_endpoint.py DIR     uses server.pem and server.key in DIR; writes its port to DIR/endpoint-port, and one JSON line for
                                each request to DIR/endpoint.jsonl; reads DIR/secret, and DIR/plan for each request

A plan is a JSON object: "status" (200), "headers", "percent" of the requests that fail with "status" while the others get 200,
"stall" seconds before the answer, "late" seconds before the answer of those that fail, "drop" to close without an answer,
"bytes" of the answer's body, "extensions" for a chunk whose extension does not end. A request that fails may have been processed: it is logged first in half of the cases.
"""
import http.server
import json
import os
import random
import ssl
import sys
import threading
import time

from standardwebhooks import Webhook, WebhookVerificationError

FOLDER = sys.argv[1]
LOCK = threading.Lock()
FIXED = os.environ.get("WEBHOOK_PORT")


def path(name):
    return os.path.join(FOLDER, name)


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return file.read()


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, line):
        with LOCK, open(path("endpoint.jsonl"), "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        plan = json.loads(read("plan"))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event = Webhook(read("secret").strip()).verify(body, headers)
            verified = True
        except WebhookVerificationError:
            event, verified = json.loads(body), False
        fails = random.randrange(100) < plan.get("percent", 100)
        status = plan.get("status", 200) if fails else 200
        time.sleep(plan.get("stall", 0))
        line = {"id": headers["webhook-id"], "verified": verified, "status": status, "path": self.path, "event": event,
                "signatures": len(headers["webhook-signature"].split()), "type": headers.get("content-type"),
                "at": time.time()}
        if status >= 300 and random.randrange(2) == 0:
            line["ignored"] = True
        self.note(line)
        if fails:
            time.sleep(plan.get("late", 0))
        if fails and plan.get("drop"):
            self.close_connection = True
            return
        if plan.get("extensions"):
            return self.extend(status)
        self.send_response(status)
        for name, value in plan.get("headers", {}).items():
            self.send_header(name, value)
        answer = b"x" * plan.get("bytes", 0)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        try:
            self.wfile.write(answer)
        except OSError:
            pass

    def extend(self, status):
        """Answers with a chunk whose extension does not end, and notes how many bytes the client has taken."""
        self.send_response(status)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        sent = 0
        try:
            self.wfile.write(b"1;")
            while True:
                self.wfile.write(b"x" * 16_384)
                sent += 16_384
        except OSError:
            self.close_connection = True
        with LOCK, open(path("extension"), "w", encoding="utf-8") as file:
            file.write(str(sent))

    do_GET = do_POST


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path("server.pem"), path("server.key"))
    server = Server(("127.0.0.1", int(FIXED or 0)), Endpoint)
    # Each handshake on the thread of its connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open(path("endpoint-port.new"), "w", encoding="utf-8") as file:
        file.write(str(server.server_port))
    os.rename(path("endpoint-port.new"), path("endpoint-port"))
    server.serve_forever()


main()
