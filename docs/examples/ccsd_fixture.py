"""A pytest fixture: a ccsd for the test run, whose virtual devices have real tokens and an inbox. Needs ccsd and ccsctl on the PATH."""
import json
import ssl
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

PORTS = [f"--{name}-port=0" for name in ("app-server", "app-server-preproduction", "device", "https", "admin")]


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
        flags = ["--data-directory", str(folder), "--test-bench", "--operator-api", "--admin-tls"]
        self.process = subprocess.Popen(["ccsd", *flags, *PORTS])
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
        url, body = f"https://localhost:{self.ports['admin']}/operator/v1/{path}", json.dumps(fields).encode()
        if method == "GET":
            url, body = f"{url}?{urllib.parse.urlencode(fields)}", None
        headers = {"Authorization": f"Bearer {self.bearer}", "Content-Type": "application/json"}
        request = urllib.request.Request(url, body, headers, method=method)
        return json.load(urllib.request.urlopen(request, context=self.tls))

    def device(self, app="org.example.app"):
        return Device(self, self.call("POST", "virtual-devices", sender_id=self.sender, app=app))


@pytest.fixture(scope="session")
def ccsd(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("ccsd"))
    yield server
    server.process.terminate()
    server.process.wait()
