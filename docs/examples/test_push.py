"""Tests of two app servers, the examples beside this file, with virtual devices of ccsd: pytest test_push.py"""
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parent


@pytest.fixture
def xmpp(ccsd, tmp_path):
    """The app server under test, which greets the first device and answers with capitals."""
    key = tmp_path / "server.key"
    key.write_text(ccsd.key)
    device = ccsd.device()
    command = [sys.executable, EXAMPLES / "xmpp_app_server.py", ccsd.sender, key, ccsd.ca, device.token]
    process = subprocess.Popen(command, env=ccsd.environment | {"CCS_PORT": str(ccsd.ports["app_server"])})
    yield device
    process.terminate()
    process.wait()


def test_answers_a_device(xmpp):
    assert [message["data"]["text"] for message in xmpp.messages()] == ["Hello"]
    assert xmpp.send(text="hi")["outcome"] == "stored"
    assert [message["data"]["text"] for message in xmpp.messages()] == ["HI"]


def test_device_is_offline(xmpp):
    xmpp.messages()
    xmpp.change(acknowledgement="never")
    xmpp.send(text="again")
    first, = xmpp.messages()
    xmpp.change(connection="offline")
    xmpp.change(connection="online")
    second, = xmpp.messages()
    assert second["repeated"] and second["persistent_id"] == first["persistent_id"]


def test_expires_while_offline(ccsd):
    device = ccsd.device()
    device.change(connection="offline")
    for text, seconds in ("a day", 86_400), ("a week", 604_800):
        ccsd.ctl("send", ccsd.sender, device.token, f"text={text}", "--time-to-live", str(seconds))
    ccsd.ctl("clock", "advance", "25h")
    device.change(connection="online")
    assert [message["data"]["text"] for message in device.messages()] == ["a week"]


def firebase(ccsd, token):
    """Runs the app server with the Firebase Admin SDK, for which Google's host names lead to ccsd."""
    command = [sys.executable, EXAMPLES / "firebase_app_server.py", ccsd.service_account, token, "from firebase-admin"]
    return subprocess.run(command, env=ccsd.environment, capture_output=True, text=True)


def test_firebase_admin(ccsd):
    device = ccsd.device()
    assert firebase(ccsd, device.token).stdout.startswith("accepted")
    assert [message["data"]["text"] for message in device.messages()] == ["from firebase-admin"]
    device.unregister()
    assert "no longer registered" in firebase(ccsd, device.token).stderr


def test_app_sends(ccsd):
    """What an app sends is recorded, since no app server is connected."""
    device = ccsd.device()
    ccsd.ctl("recorders", "add", ccsd.sender)
    device.change(connection="offline")
    assert device.send(text="hi", message_id="m-1")["outcome"] == "waiting"
    device.change(connection="online")
    message, = ccsd.ctl("recorders", "messages", ccsd.sender, "--wait", 10)["messages"]
    assert (message["message_id"], message["token"], message["data"]) == ("m-1", device.token, {"text": "hi"})


def test_firebase_admin_sends_again(ccsd):
    device = ccsd.device()
    ccsd.ctl("faults", "add", "refuse", "--token", device.token, "--error", "UNAVAILABLE")
    assert firebase(ccsd, device.token).stdout.startswith("accepted")
    assert ccsd.ctl("faults", "list")["faults"][-1]["hits"] == 1
    assert len(device.messages()) == 1
