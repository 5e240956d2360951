"""A first test of an app server with firebase-admin; the phone lives in ccsd. Run it with: pytest test_first_push.py"""
import asyncio

import firebase_admin
import pytest
from firebase_admin import credentials, messaging


@pytest.fixture(scope="session", autouse=True)
def app(ccsd):
    return firebase_admin.initialize_app(credentials.Certificate(ccsd.service_account))


def test_phone_gets_the_order(ccsd_device):
    messaging.send(messaging.Message(token=ccsd_device.token, data={"order": "17"}))
    assert [message["data"] for message in ccsd_device.messages()] == [{"order": "17"}]


def test_sends_asynchronously(ccsd_device):
    answer = asyncio.run(messaging.send_each_async([messaging.Message(token=ccsd_device.token, data={"order": "18"})]))
    assert answer.success_count == 1 and ccsd_device.messages()[0]["data"] == {"order": "18"}


def test_app_was_uninstalled(ccsd_device):
    ccsd_device.unregister()
    pytest.raises(messaging.UnregisteredError, messaging.send, messaging.Message(token=ccsd_device.token))
