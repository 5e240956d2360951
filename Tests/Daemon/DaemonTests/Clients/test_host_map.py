"""The host map of pytest-ccsd with the HTTP clients of Python: run by pytest with the plugin."""
import asyncio
import http.client
import socket
import ssl

import aiohttp
import anyio
import httpx
import pytest
import requests
import urllib3
from pytest_ccsd.child import ccsd_hostmap

URL = "https://fcm.googleapis.com/fcm/send"


async def with_asyncio():
    reader, writer = await asyncio.open_connection("fcm.googleapis.com", 443, ssl=ssl.create_default_context())
    writer.write(b"POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nContent-Length: 0\r\n\r\n")
    line = await reader.readline()
    writer.close()
    return int(line.split()[1])


async def with_anyio():
    stream = await anyio.connect_tcp("fcm.googleapis.com", 443, ssl_context=ssl.create_default_context(), tls_standard_compatible=False)
    async with stream:
        await stream.send(b"POST /fcm/send HTTP/1.1\r\nHost: fcm.googleapis.com\r\nContent-Length: 0\r\n\r\n")
        return int((await stream.receive()).split()[1])


async def with_httpx():
    async with httpx.AsyncClient(http2=True) as client:
        return (await client.post(URL)).status_code


async def with_aiohttp():
    connector = aiohttp.TCPConnector(resolver=aiohttp.ThreadedResolver())
    async with aiohttp.ClientSession(connector=connector) as session, session.post(URL) as response:
        return response.status


def with_http_client():
    connection = http.client.HTTPSConnection("fcm.googleapis.com")
    connection.request("POST", "/fcm/send")
    return connection.getresponse().status


CLIENTS = {
    "asyncio": lambda: asyncio.run(with_asyncio()),
    "anyio": lambda: asyncio.run(with_anyio()),
    "httpx": lambda: httpx.post(URL).status_code,
    "httpx, asynchronous": lambda: asyncio.run(with_httpx()),
    "aiohttp": lambda: asyncio.run(with_aiohttp()),
    "requests": lambda: requests.post(URL).status_code,
    "urllib3": lambda: urllib3.PoolManager().request("POST", URL, retries=False).status,
    "http.client": with_http_client,
}


@pytest.mark.parametrize("name", CLIENTS)
def test_client_reaches_ccsd(ccsd, name):
    assert CLIENTS[name]() == 401  # no server key


@pytest.mark.parametrize("host, port", [("mtalk.google.com", 5228), ("gcm.googleapis.com", 5235), ("GCM.googleapis.com.", 5236)])
def test_ports_of_xmpp_and_devices(ccsd, host, port):
    context = ssl.create_default_context()
    with socket.create_connection((host, port)) as plain, context.wrap_socket(plain, server_hostname=host.rstrip(".")) as tls:
        assert tls.version() and plain.fileno() == -1


def test_connect_ex_and_names(ccsd):
    with socket.socket() as one:
        assert one.connect_ex(("fcm.googleapis.com", 443)) == 0
        assert one.getpeername() == ("127.0.0.1", ccsd.ports["https"])


def test_other_hosts_and_addresses_are_as_before(ccsd):
    assert not ccsd_hostmap.is_mapped("storage.googleapis.com") and not ccsd_hostmap.is_mapped(None)
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()


def test_the_map_ends_with_its_block():
    names = [(socket, "getaddrinfo"), (socket.socket, "connect"), (socket.socket, "connect_ex"), (ssl.SSLContext, "wrap_bio")]
    before = [getattr(*name) for name in names]
    with ccsd_hostmap.installed({443: 1}):
        assert all(getattr(*name) is not old for name, old in zip(names, before))
    assert [getattr(*name) for name in names] == before


def test_refused_command_is_explained(ccsd):
    from pytest_ccsd.server import CommandFailed

    with pytest.raises(CommandFailed, match="no virtual device|unknown"):
        ccsd.ctl("virtual-devices", "remove", "1")
