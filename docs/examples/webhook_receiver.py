"""Takes upstream messages over HTTPS, verifies their signatures and prints them."""
import base64
import hashlib
import hmac
import http.server
import json
import ssl
import sys
import time

CERTIFICATE, KEY, SECRET_FILE, PORT = sys.argv[1:5]
SECRET = base64.b64decode(open(SECRET_FILE).read().strip().removeprefix("whsec_"))
SEEN = set()  # in production: a table with the IDs of the last day, in the transaction of the work


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        number, sent = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        mac = hmac.new(SECRET, f"{number}.{sent}.".encode() + body, hashlib.sha256).digest()
        wanted = "v1," + base64.b64encode(mac).decode()
        good = any([hmac.compare_digest(wanted, given) for given in self.headers["webhook-signature"].split()])
        if not good or abs(time.time() - int(sent)) > 300:
            self.send_error(401)
            return
        if number not in SEEN:
            SEEN.add(number)
            event = json.loads(body)
            print(event["type"], event["message_id"], event.get("data", event.get("status")), flush=True)
        self.send_response(204)  # only now is the message removed from ccsd
        self.end_headers()


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server = http.server.ThreadingHTTPServer(("", int(PORT)), Receiver)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
server.serve_forever()
