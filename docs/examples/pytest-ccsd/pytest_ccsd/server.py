"""A ccsd with the test bench, and its virtual devices. Everything goes over its control socket, by ccsctl."""
import json
import os
import pathlib
import shutil
import subprocess
import time

PORTS = [f"--{name}-port=0" for name in ("app-server", "app-server-preproduction", "device", "https")]
START_SECONDS = 60  # a start takes less than one; a busy machine with many workers needs longer
STOP_SECONDS = 60  # a stop ends connections and commits
LOG_LINES = 20  # of ccsd, shown if it does not start
PAGE = 100  # the most messages that one command returns
TEST_APP = "org.example.app"


class CommandFailed(Exception):
    """A command of ccsctl was refused: its problem and what to do."""


class Device:
    """A virtual device. `token` is what its app would pass to the app server."""

    def __init__(self, server, row):
        self.server, self.id, self.token, self.read = server, row["device"], row["token"], 0

    def messages(self, wait=10):
        """Returns the messages since the last call; waits up to `wait` seconds for one if there is none."""
        rows, read = [], ["virtual-devices", "messages", self.id, "--limit", PAGE]
        while True:
            page = self.server.ctl(*read, "--after", self.read, "--wait", 0 if rows else wait)["messages"]
            rows += page
            self.read = page[-1]["number"] if page else self.read
            if len(page) < PAGE:
                return rows

    def send(self, message_id=None, **data):
        """Sends pairs to the app server. Returns the outcome: stored, waiting (offline) or refused."""
        name = ["--message-id", message_id] if message_id else []
        return self.server.ctl("virtual-devices", "send", self.id, *name, *(f"{key}={text}" for key, text in data.items()))

    def change(self, **settings):
        """Sets `connection` to online or offline, or `acknowledgement` to always or never."""
        options = [word for name, value in settings.items() for word in (f"--{name}", value)]
        return self.server.ctl("virtual-devices", "change", self.id, *options)

    def settle(self, wait=10):
        """Waits until nothing more is on its way to the device. Returns whether that was so within `wait` seconds."""
        return self.server.ctl("virtual-devices", "settle", self.id, "--wait", wait)["settled"]

    def reinstall(self):
        """Installs the app again, which has a new `token` from then on. Returns it; the earlier one leads to it for a while."""
        self.token = self.server.ctl("virtual-devices", "reinstall", self.id)["token"]
        return self.token

    def unregister(self):
        """Uninstalls the app: app servers that send to the token get NotRegistered."""
        return self.server.ctl("virtual-devices", "unregister", self.id)

    def remove(self):
        """Removes the device with its inbox."""
        return self.server.ctl("virtual-devices", "remove", self.id)


class Server:
    """A ccsd process with its data in a folder, a test clock, free ports and one sender."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.socket, self.ca = str(self.folder / "control.sock"), str(self.folder / "ca.pem")
        self.process = None

    def start(self):
        """Starts ccsd, waits until it serves, and adds the sender: `sender` is its ID, `key` its server key."""
        for program in ("ccsd", "ccsctl"):
            if not shutil.which(program):
                raise FileNotFoundError(f"{program} is not in PATH: add the folder with the programs of ccsd")
        flags = [f"--data-directory={self.folder}", f"--control-socket={self.socket}", "--test-bench", "--test-clock"]
        # Settings of the shell are for other servers.
        settings = {name: value for name, value in os.environ.items() if not name.startswith("CCSD_")}
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(["ccsd", *flags, *PORTS], stdout=log, stderr=log, env=settings)
        status = self._wait()
        self.ports = {row["name"]: row["port"] for row in status["listeners"]}
        added = self.ctl("senders", "add")
        self.sender, self.key = added["sender_id"], added["key"]

    def _wait(self):
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.ctl("status")
            except CommandFailed as problem:
                has_ended = self.process.poll() is not None
                if has_ended or time.monotonic() > end:
                    lines = (self.folder / "log").read_text(errors="replace").splitlines()[-LOG_LINES:]
                    text = "\n".join(["ccsd has ended" if has_ended else f"ccsd does not serve after {START_SECONDS} s"] + lines)
                    raise RuntimeError(text) from problem
                time.sleep(0.05)

    def stop(self):
        """Stops ccsd, if it runs."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def ctl(self, *words):
        """Runs a command of ccsctl. Returns its answer; raises `CommandFailed` if it is refused."""
        command = ["ccsctl", "--json", "--socket", self.socket, *map(str, words)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        answer = json.loads(done.stdout or "{}")
        # A message that is refused is an answer, too, and has no exit code in it.
        if done.returncode and ("exit_code" in answer or not answer):
            raise CommandFailed(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
        return answer

    def device(self, app=TEST_APP):
        """Creates a virtual device that is online, with the app registered for the sender."""
        return Device(self, self.ctl("virtual-devices", "add", self.sender, app))

    @property
    def service_account(self):
        """The path of a key file for firebase-admin and other SDKs of HTTP v1."""
        file = self.folder / "service-account.json"
        if not file.exists():
            self.ctl("service-accounts", "add", self.sender, "--out", file)
        return str(file)

    @property
    def host_ports(self):
        """The ports of Google's hosts, and those of ccsd that take their place."""
        names = {443: "https", 5228: "device", 5235: "app_server", 5236: "app_server_preproduction"}
        return {port: self.ports[name] for port, name in names.items()}

    @property
    def environment(self):
        """The environment for an app server in another Python process, with Google's host names as in the tests."""
        from .child import ccsd_hostmap

        return ccsd_hostmap.environment(self.host_ports, self.ca)
