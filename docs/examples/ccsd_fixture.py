"""A pytest fixture: a ccsd for the test run, whose virtual devices have real tokens and an inbox. Needs ccsd and ccsctl on the PATH."""
import json
import socket
import ssl
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

PORTS = [f"--{name}-port=0" for name in ("app-server", "app-server-preproduction", "device", "https")]


class Device:
    def __init__(self, server, row):
        self.server, self.id, self.token, self.read = server, row["device"], row["token"], 0

    def messages(self, wait=10):  # those since the last call; waits for one if there is none
        page = self.server.call("GET", f"virtual-devices/{self.id}/messages", after=self.read, wait=wait)["messages"]
        self.read = page[-1]["number"] if page else self.read
        return page

    def post(self, action, **fields):
        return self.server.call("POST", f"virtual-devices/{self.id}/{action}", **fields)


class Server:
    def __init__(self, folder):
        self.socket, self.ca = f"{folder}/control.sock", f"{folder}/ca.pem"
        admin = socket.create_server(("127.0.0.1", 0)).getsockname()[1]  # free, since the socket is closed at once
        flags = [f"--data-directory={folder}", f"--admin-port={admin}", "--test-bench", "--test-clock", "--operator-api", "--admin-tls"]
        self.process, self.api = subprocess.Popen(["ccsd", *flags, *PORTS]), f"https://localhost:{admin}/operator/v1/"
        while subprocess.run(["ccsctl", "--socket", self.socket, "status"], capture_output=True).returncode:
            assert self.process.poll() is None, "ccsd has ended"
            time.sleep(0.05)
        self.ports = {row["name"]: row["port"] for row in self.ctl("status")["listeners"]}
        self.tls = ssl.create_default_context(cafile=self.ca)
        self.bearer = self.ctl("operators", "add", "tests", "--role", "operator")["token"]
        self.sender, self.key = map(self.ctl("senders", "add").get, ("sender_id", "key"))

    def ctl(self, *words):
        return json.loads(subprocess.check_output(["ccsctl", "--json", "--socket", self.socket, *words]))

    def call(self, method, path, **fields):
        query, body = ("?" + urllib.parse.urlencode(fields), None) if method == "GET" else ("", json.dumps(fields).encode())
        headers = {"Authorization": f"Bearer {self.bearer}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.api + path + query, body, headers, method=method)
        return json.load(urllib.request.urlopen(request, context=self.tls))

    def device(self, app="org.example.app"):
        return Device(self, self.call("POST", "virtual-devices", sender_id=self.sender, app=app))


@pytest.fixture(scope="session")
def ccsd(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("ccsd"))
    yield server
    server.process.terminate()
    server.process.wait()
