"""An application server on firebase-admin 7.7, unchanged. Run with hostmap on PYTHONPATH; REQUESTS_CA_BUNDLE names the authority.

    firebase_admin_server.py KEY_FILE [PROJECT]

Commands: {"do": "send", "token": "...", "data": {...}}, with "title", "dry_run", "ttl" and "collapse_key" where wanted, answered by
"sent"; {"do": "send_each", "tokens": [...], "data": {...}}, answered by "sent_each". A refusal has the name of its exception.
"""
import sys
from datetime import timedelta

import firebase_admin
from firebase_admin import credentials, exceptions, messaging
from google.auth.exceptions import GoogleAuthError

from dialogue import commands, tell


def message(command, token):
    android = {}
    if "ttl" in command:
        android["ttl"] = timedelta(seconds=command["ttl"])
    if "collapse_key" in command:
        android["collapse_key"] = command["collapse_key"]
    return messaging.Message(
        token=token, data=command.get("data"),
        notification=messaging.Notification(title=command["title"]) if "title" in command else None,
        android=messaging.AndroidConfig(priority="high", **android),
    )


def facts(error):
    return {"error": type(error).__name__, "code": getattr(error, "code", None), "text": str(error)}


options = {"projectId": sys.argv[2]} if len(sys.argv) > 2 else None
firebase_admin.initialize_app(credentials.Certificate(sys.argv[1]), options)
tell("ready")
for command in commands():
    try:
        if command["do"] == "send":
            name = messaging.send(message(command, command["token"]), dry_run=command.get("dry_run", False))
            tell("sent", name=name)
        else:
            batch = messaging.send_each([message(command, token) for token in command["tokens"]])
            tell("sent_each", success=batch.success_count, results=[
                {"name": answer.message_id} if answer.success else facts(answer.exception) for answer in batch.responses
            ])
    except (exceptions.FirebaseError, GoogleAuthError, ValueError) as error:
        tell("sent", **facts(error))
