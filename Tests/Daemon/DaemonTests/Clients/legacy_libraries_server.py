"""An app server with an unmodified library for legacy HTTP. Run with hostmap on PYTHONPATH; REQUESTS_CA_BUNDLE is the CA.

    legacy_libraries_server.py pyfcm|python-gcm|pushjack SENDER; the key is the first line of standard input

Commands and their answers:

    {"do": "send", "tokens": [...], "data": {...}}     "sent" with the library's result for each token in its order;
                                                       "title" and the options below are optional
    {"do": "plain", "token": "..."}                    "sent_plain", with the same fields; python-gcm
    {"do": "group", "json": {...}}                     "grouped"; sent without the library, which has no such call
    {"do": "send_group", "key": "..."}                 "sent_group"; pyfcm and pushjack
    {"do": "topic", "topic": "..."}                    "sent_topic"; pyfcm also takes "condition"
    {"do": "subscribe", "tokens": [...], "topic"}      "managed", also for "unsubscribe"; pyfcm
    {"do": "info", "token": "..."}                     "known"; pyfcm
    {"do": "clean", "tokens": [...]}                   "cleaned"; pyfcm

A failed call has the name of its exception.
"""
import sys

import requests

from dialogue import commands, emit

library, sender = sys.argv[1], sys.argv[2]
key = sys.stdin.readline().rstrip("\n")
options = ("collapse_key", "time_to_live", "dry_run", "delay_while_idle", "retries")


def wanted(command):
    return {name: command[name] for name in options if name in command}


def by_pyfcm(command):
    """Sends with pyfcm, whose results are those of the server."""
    more = {"data_message": command["data"], "message_title": command.get("title"), **wanted(command)}
    if len(command["tokens"]) == 1:
        answer = service.notify_single_device(registration_id=command["tokens"][0], **more)
    else:
        answer = service.notify_multiple_devices(registration_ids=command["tokens"], **more)
    assert answer["success"] + answer["failure"] == len(command["tokens"]), answer
    return [
        {"token": token, "id": result.get("message_id"), "error": result.get("error"), "canonical": result.get("registration_id")}
        for token, result in zip(command["tokens"], answer["results"], strict=True)
    ]


def by_python_gcm(command):
    """Sends with python-gcm, which returns message IDs and canonical IDs by token, and tokens by error."""
    more = {"notification": {"title": command["title"]}} if "title" in command else {}
    answer = service.json_request(registration_ids=command["tokens"], data=command["data"], **more, **wanted(command))
    errors = {token: error for error, tokens in answer.get("errors", {}).items() for token in tokens}
    return [
        {"token": token, "id": answer.get("success", {}).get(token), "error": errors.get(token),
         "canonical": answer.get("canonical", {}).get(token)}
        for token in command["tokens"]
    ]


def by_pushjack(command):
    """Sends with pushjack, which returns successes, an exception for each failure, and canonical IDs, but no message IDs."""
    more = {"notification": {"title": command["title"]}} if "title" in command else {}
    answer = service.send(command["tokens"], command["data"], **more, **wanted(command))
    assert [error.identifier for error in answer.errors] == answer.failures, answer.errors
    errors = {error.identifier: type(error).__name__ for error in answer.errors}
    canonical = dict(answer.canonical_ids)
    return [
        {"token": token, "id": "sent" if token in answer.successes else None, "error": errors.get(token),
         "canonical": canonical.get(token)}
        for token in answer.registration_ids
    ]


def to_topic(command):
    """Returns the message ID, which is a number, or for pushjack another part of the response."""
    if library == "pyfcm":
        target = {"topic_name": command.get("topic"), "condition": command.get("condition")}
        return service.notify_topic_subscribers(data_message=command["data"], **target)["topic_message_id"]
    if library == "python-gcm":
        return service.send_topic_message(topic=command["topic"], data=command["data"], **wanted(command))
    # pushjack has no call for topics but accepts one as a token.
    answer = service.send(["/topics/" + command["topic"]], command["data"])
    result = answer.data[0] if answer.data else {"status": answer.responses[0].status_code}
    return result.get("message_id", result)


def to_group(command):
    if library == "pyfcm":
        return service.notify_single_device(registration_id=command["key"], data_message=command["data"])
    return service.send([command["key"]], command["data"]).data[0]


def group(command):
    answer = requests.post(
        "https://fcm.googleapis.com/fcm/notification", json=command["json"], timeout=20,
        headers={"Authorization": f"key={key}", "project_id": sender})
    return {"status": answer.status_code, "json": answer.json()}


def plain(command):
    return service.plaintext_request(registration_id=command["token"], data=command["data"], **wanted(command))


# The name of the answer and the function for each command.
actions = {
    "send": ("sent", lambda command: {"results": send(command)}),
    "plain": ("sent_plain", lambda command: {"canonical": plain(command)}),
    "group": ("grouped", group),
    "send_group": ("sent_group", lambda command: {"answer": to_group(command)}),
    "topic": ("sent_topic", lambda command: {"id": to_topic(command)}),
    "subscribe": (
        "managed", lambda command: {"done": service.subscribe_registration_ids_to_topic(command["tokens"], command["topic"])}),
    "unsubscribe": (
        "managed", lambda command: {"done": service.unsubscribe_registration_ids_from_topic(command["tokens"], command["topic"])}),
    "info": ("known", lambda command: {"info": service.get_registration_id_info(command["token"])}),
    "clean": ("cleaned", lambda command: {"tokens": service.clean_registration_ids(command["tokens"])}),
}

if library == "pyfcm":
    from pyfcm import FCMNotification
    service, send = FCMNotification(api_key=key), by_pyfcm
elif library == "python-gcm":
    from gcm import GCM
    service, send = GCM(key), by_python_gcm
else:
    from pushjack import GCMClient
    service, send = GCMClient(api_key=key), by_pushjack

for command in commands():
    event, action = actions[command["do"]]
    try:
        emit(event, **action(command))
    except Exception as error:  # The exception of the library is the result.
        emit(event, error=type(error).__name__, text=str(error))
