"""Tests of two app servers, the examples beside this file, with virtual devices of ccsd: pytest test_push.py"""
import os
import pathlib
import subprocess
import sys

import pytest
from ccsd_fixture import ccsd  # noqa: F401 (a fixture)

EXAMPLES = pathlib.Path(__file__).parent


@pytest.fixture
def xmpp(ccsd, tmp_path):
    """The app server under test, which greets the first device and answers with capitals."""
    key = tmp_path / "server.key"
    key.write_text(ccsd.key)
    device = ccsd.device()
    command = [sys.executable, EXAMPLES / "xmpp_app_server.py", ccsd.sender, key, ccsd.ca, device.token]
    process = subprocess.Popen(command, env=os.environ | {"CCS_PORT": str(ccsd.ports["app_server"])})
    yield device
    process.terminate()
    process.wait()


def test_answers_a_device(xmpp):
    assert [message["data"]["text"] for message in xmpp.messages()] == ["Hello"]
    assert xmpp.post("send", data={"text": "hi"})["outcome"] == "stored"
    assert [message["data"]["text"] for message in xmpp.messages()] == ["HI"]


def test_device_is_offline(xmpp):
    xmpp.messages()
    xmpp.post("change", acknowledgement="never")
    xmpp.post("send", data={"text": "again"})
    first, = xmpp.messages()
    xmpp.post("change", connection="offline")
    xmpp.post("change", connection="online")
    second, = xmpp.messages()
    assert second["repeated"] and second["persistent_id"] == first["persistent_id"]


def test_expires_while_offline(ccsd):
    device = ccsd.device()
    device.post("change", connection="offline")
    for text, seconds in ("a day", 86_400), ("a week", 604_800):
        ccsd.ctl("send", ccsd.sender, device.token, f"text={text}", "--time-to-live", str(seconds))
    ccsd.ctl("clock", "advance", "25h")
    device.post("change", connection="online")
    assert [message["data"]["text"] for message in device.messages()] == ["a week"]


def firebase(ccsd, tmp_path, token):
    """Runs the app server with the Firebase Admin SDK, for which Google's host names lead to ccsd."""
    key = tmp_path / "account.json"
    if not key.exists():
        ccsd.ctl("service-accounts", "add", ccsd.sender, "--out", str(key))
    settings = {"CCS_HTTPS_PORT": str(ccsd.ports["https"]), "SSL_CERT_FILE": ccsd.ca, "REQUESTS_CA_BUNDLE": ccsd.ca}
    command = [sys.executable, EXAMPLES / "firebase_app_server.py", key, token, "from firebase-admin"]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)


def test_firebase_admin(ccsd, tmp_path):
    device = ccsd.device()
    assert firebase(ccsd, tmp_path, device.token).stdout.startswith("accepted")
    assert [message["data"]["text"] for message in device.messages()] == ["from firebase-admin"]
    device.post("unregister")
    assert "no longer registered" in firebase(ccsd, tmp_path, device.token).stderr


def test_app_sends(ccsd):
    """What an app sends is recorded, since no app server is connected."""
    device = ccsd.device()
    ccsd.call("POST", "recorders", sender_id=ccsd.sender)
    device.post("change", connection="offline")
    assert device.post("send", data={"text": "hi"}, message_id="m-1")["outcome"] == "waiting"
    device.post("change", connection="online")
    message, = ccsd.call("GET", f"recorders/{ccsd.sender}/messages", wait=10)["messages"]
    assert (message["message_id"], message["token"], message["data"]) == ("m-1", device.token, {"text": "hi"})


def test_firebase_admin_sends_again(ccsd, tmp_path):
    device = ccsd.device()
    ccsd.call("POST", "faults", action="refuse", token=device.token, error="UNAVAILABLE")
    assert firebase(ccsd, tmp_path, device.token).stdout.startswith("accepted")
    assert ccsd.call("GET", "faults")["faults"][-1]["hits"] == 1
    assert len(device.messages()) == 1
