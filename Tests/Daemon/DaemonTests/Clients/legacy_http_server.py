"""An app server that sends by legacy HTTP, with requests. Arguments: port, sender; the key is the first line of standard input.

Command: {"do": "send", "json": {...}}. Answer: "answered" with the status and the JSON. REQUESTS_CA_BUNDLE is the CA.
"""
import requests

from dialogue import arguments, commands, emit

port, _, key = arguments()
session = requests.Session()
for command in commands():
    answer = session.post(
        f"https://localhost:{port}/fcm/send", json=command["json"], headers={"Authorization": f"key={key}"}, timeout=20)
    emit("answered", status=answer.status_code, json=answer.json() if answer.ok else {"text": answer.text})
