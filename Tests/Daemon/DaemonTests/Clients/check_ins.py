"""Checks in new devices and registers apps over HTTPS, one request per connection, and reports the responses.

check_ins.py PORT; standard input has lines "ADDRESS new", "ADDRESS again ID TOKEN" and "ADDRESS register ID TOKEN APP SENDER".
The source address of the connection is ADDRESS, one of 127.0.0.0/8. Each line is answered with one JSON line: {"event": "answer", "status": 200,
"retry_after": "60" or null, "body": TEXT}.
"""

import http.client
import json
import ssl
import sys
from urllib.parse import urlencode


def ask(port, address, what, arguments):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    link = http.client.HTTPSConnection(
        "127.0.0.1", port, timeout=60, context=context, source_address=(address, 0)
    )
    if what == "register":
        device, token, app, sender = arguments
        body = urlencode({"app": app, "device": device, "sender": sender})
        link.request(
            "POST",
            "/c2dm/register3",
            body,
            {
                "Authorization": f"AidLogin {device}:{token}",
                "Content-Type": "application/x-www-form-urlencoded",
            },
        )
    else:
        message = {"checkin": {}, "version": 2}
        if what == "again":
            message["id"], message["security_token"] = map(int, arguments)
        link.request("POST", "/checkin", json.dumps(message), {"Content-Type": "application/json"})
    answer = link.getresponse()
    return {
        "event": "answer",
        "status": answer.status,
        "retry_after": answer.getheader("Retry-After"),
        "body": answer.read().decode(),
    }


for line in sys.stdin:
    address, what, *arguments = line.split()
    print(json.dumps(ask(int(sys.argv[1]), address, what, arguments)), flush=True)
