"""An app server with an unmodified library for HTTP v1. Run with hostmap on PYTHONPATH; the environment has the CA.

    v1_libraries_server.py firebase-admin|pyfcm|async-firebase KEY_FILE [PROJECT]

The Python installation determines the release of firebase-admin. Commands and their answers:

    {"do": "send", "token": "..."}                          "sent"; or with "topic", "condition" or "fid", and "data";
                                                            "title", "dry_run", "ttl" and "collapse_key" are optional
    {"do": "send_many", "how": CALL, "tokens": [...]}       "sent_many"; CALL is the name of the library's function
    {"do": "manage", "how": CALL, "tokens": [...], "topic"} "managed"; CALL subscribes or unsubscribes

A refusal has the name and the text of its exception.
"""
import asyncio
import sys
import warnings
from datetime import timedelta

from dialogue import commands, emit

library, key_file = sys.argv[1], sys.argv[2]
project = sys.argv[3] if len(sys.argv) > 3 else None
# Libraries warn of calls and fields that Google has deprecated, which are tested nevertheless.
warnings.simplefilter("ignore", DeprecationWarning)


# Timeout in seconds in place of a library's five, so that tests pass on slow machines.
PATIENCE = 60
# One loop for all calls, since the connections of the libraries belong to it.
loop = asyncio.new_event_loop()


def awaited(answer):
    return loop.run_until_complete(answer) if asyncio.iscoroutine(answer) else answer


def facts(error):
    return {"error": type(error).__name__, "text": str(error)}


def managed(answer):
    return {"success": answer.success_count, "failure": answer.failure_count,
            "errors": [[error.index, error.reason] for error in answer.errors]}


class FirebaseAdmin:
    """firebase-admin, including older releases that send many messages as one request (`send_all`)."""

    def __init__(self):
        import firebase_admin
        from firebase_admin import messaging
        self.messaging = messaging
        options = {"projectId": project} if project else None
        firebase_admin.initialize_app(firebase_admin.credentials.Certificate(key_file), options)

    def contents(self, command):
        android = {name: command[name] for name in ("collapse_key",) if name in command}
        if "ttl" in command:
            android["ttl"] = timedelta(seconds=command["ttl"])
        title = command.get("title")
        return {"data": command.get("data"), "android": self.messaging.AndroidConfig(priority="high", **android),
                "notification": self.messaging.Notification(title=title) if title else None}

    def send(self, command):
        target = {name: command[name] for name in ("token", "topic", "condition", "fid") if name in command}
        message = self.messaging.Message(**target, **self.contents(command))
        return self.messaging.send(message, dry_run=command.get("dry_run", False))

    def send_many(self, command):
        if "multicast" in command["how"]:
            what = self.messaging.MulticastMessage(tokens=command["tokens"], **self.contents(command))
        else:
            what = [self.messaging.Message(token=token, **self.contents(command)) for token in command["tokens"]]
        batch = awaited(getattr(self.messaging, command["how"])(what, dry_run=False))
        return [{"name": answer.message_id} if answer.success else facts(answer.exception) for answer in batch.responses]

    def manage(self, command):
        return managed(awaited(getattr(self.messaging, command["how"])(command["tokens"], command["topic"])))


class PyFCM:
    """pyfcm 2, which has no calls for topic subscriptions."""

    def __init__(self):
        from pyfcm import FCMNotification
        self.service = FCMNotification(service_account_file=key_file, project_id=project)

    def parameters(self, command):
        names = {"token": "fcm_token", "topic": "topic_name", "condition": "topic_condition", "data": "data_payload",
                 "title": "notification_title", "dry_run": "dry_run"}
        found = {theirs: command[ours] for ours, theirs in names.items() if ours in command}
        android = {"collapse_key": command["collapse_key"]} if "collapse_key" in command else {}
        if "ttl" in command:
            android["ttl"] = f"{command['ttl']}s"
        return {**found, "android_config": {"priority": "HIGH", **android}}

    def send(self, command):
        return self.service.notify(**self.parameters(command))["name"]

    def send_many(self, command):
        """Returns results from the responses of the server, which the library passes on unchanged."""
        answers = getattr(self.service, command["how"])(
            [self.parameters({**command, "token": token}) for token in command["tokens"]], timeout=PATIENCE)
        return [{"name": answer["name"]} if "name" in answer else {"error": answer["error"]["status"]} for answer in answers]


class AsyncFirebase:
    """async-firebase, with a second client for calls over HTTP/2."""

    def __init__(self):
        import async_firebase
        from async_firebase import messages
        self.messages = messages
        patience = async_firebase.client.RequestTimeout(timeout=PATIENCE)
        self.clients = [
            async_firebase.AsyncFirebaseClient(request_timeout=patience, use_http2=is_second) for is_second in (False, True)]
        for client in self.clients:
            client.creds_from_service_account_file(key_file)

    def contents(self, command):
        title = command.get("title")
        android = self.messages.AndroidConfig.build(
            priority="high", ttl=command.get("ttl", 60), collapse_key=command.get("collapse_key"))
        return {"data": command.get("data", {}), "android": android,
                "notification": self.messages.Notification(title=title) if title else None}

    def result(self, answer):
        return {"name": answer.message_id} if answer.success else facts(answer.exception)

    def send(self, command):
        target = {name: command[name] for name in ("token", "topic", "condition", "fid") if name in command}
        message = self.messages.Message(**target, **self.contents(command))
        answer = awaited(self.clients[0].send(message, dry_run=command.get("dry_run", False)))
        if answer.exception:
            raise answer.exception
        return answer.message_id

    def send_many(self, command):
        how, _, over = command["how"].partition(" over ")
        if "multicast" in how:
            what = self.messages.MulticastMessage(tokens=command["tokens"], **self.contents(command))
        else:
            what = [self.messages.Message(token=token, **self.contents(command)) for token in command["tokens"]]
        batch = awaited(getattr(self.clients[over == "HTTP/2"], how)(what))
        return [self.result(answer) for answer in batch.responses]

    def manage(self, command):
        answer = awaited(getattr(self.clients[0], command["how"])(command["tokens"], command["topic"]))
        if answer.exception:
            raise answer.exception
        return managed(answer)


server = {"firebase-admin": FirebaseAdmin, "pyfcm": PyFCM, "async-firebase": AsyncFirebase}[library]()
emit("ready")
for command in commands():
    try:
        if command["do"] == "send":
            emit("sent", name=server.send(command))
        elif command["do"] == "send_many":
            emit("sent_many", results=server.send_many(command))
        else:
            emit("managed", **server.manage(command))
    except Exception as error:  # The exception of the library is the result.
        emit({"send": "sent", "send_many": "sent_many"}.get(command["do"], "managed"), **facts(error))
