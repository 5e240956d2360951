"""Debian's Chromium, unmodified, with a web app that uses the Push API and an extension that uses chrome.gcm.

    HOME HTTPSPORT DEVICEPORT CA    stores its profile in HOME and trusts CA, or only its default CAs for "-"

Google's host names resolve to these ports, all others fail. Commands: {"do": "page" or "extension", "js": "..."}, answered by
"value"; messages are reported as "push" and "gcm". The browser closes when the input ends.
"""
import functools
import http.server
import json
import os
import queue
import subprocess
import sys
import threading

from dialogue import commands, emit

HOME, HTTPS_PORT, DEVICE_PORT, AUTHORITY = sys.argv[1:5]
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chromium")
RULES = ", ".join([
    f"MAP mtalk.google.com:5228 127.0.0.1:{DEVICE_PORT}", f"MAP android.clients.google.com:443 127.0.0.1:{HTTPS_PORT}",
    "MAP * ~NOTFOUND", "EXCLUDE localhost",
])


class Browser:
    """The browser, controlled through a pipe; it ends when the pipe is closed."""

    def __init__(self):
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()
        self._waiting, self._count, self._lock = {}, 0, threading.Lock()

        def descriptors():
            copies = os.dup(theirs), os.dup(answers)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             f"--user-data-dir={HOME}/profile", "--remote-debugging-pipe", f"--host-resolver-rules={RULES}",
             f"--load-extension={SITE}/extension", "--disable-features=DisableLoadExtensionCommandLineSwitch", "about:blank"],
            env=dict(os.environ, HOME=HOME), stdout=sys.stderr, preexec_fn=descriptors, pass_fds=(3, 4))
        os.close(theirs)
        os.close(answers)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rest = b""
        while chunk := os.read(self._in, 65536):
            *whole, rest = (rest + chunk).split(b"\0")
            for text in whole:
                answer = json.loads(text)
                if answer.get("method") == "Runtime.bindingCalled":
                    emit(answer["params"]["name"], value=json.loads(answer["params"]["payload"]))
                elif answer.get("id") in self._waiting:
                    self._waiting.pop(answer["id"]).put(answer)

    def call(self, method, session=None, **parameters):
        """Calls a method of the DevTools protocol and returns its result."""
        with self._lock:
            self._count += 1
            number = self._count
        self._waiting[number] = answer = queue.Queue()
        request = {"id": number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self._out, json.dumps(request).encode() + b"\0")
        return answer.get(timeout=60).get("result", {})

    def attach(self, target):
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for name in ("push", "gcm"):
            self.call("Runtime.addBinding", session, name=name)
        self.call("Runtime.enable", session)
        return session

    def worker(self):
        """Waits for the extension to run and attaches to it."""
        while True:
            for target in self.call("Target.getTargets")["targetInfos"]:
                if target["url"].startswith("chrome-extension:"):
                    return self.attach(target["targetId"])


def evaluate(browser, session, script):
    answer = browser.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
    emit("value", value=answer.get("result", {}).get("value"), error=answer.get("exceptionDetails", {}).get("text"))


def trust():
    store = f"{HOME}/.pki/nssdb"
    if os.path.isdir(store):
        return
    os.makedirs(store)
    subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True)
    if AUTHORITY != "-":
        subprocess.run(["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", "ccsd", "-i", AUTHORITY], check=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


# The web app must have the same origin at each start, so its port is stored.
kept = f"{HOME}/port"
os.makedirs(HOME, exist_ok=True)
port = int(open(kept).read()) if os.path.exists(kept) else 0
site = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=f"{SITE}/page"))
with open(kept, "w") as file:
    file.write(str(site.server_port))
threading.Thread(target=site.serve_forever, daemon=True).start()
trust()
browser = Browser()
browser.call("Browser.grantPermissions", permissions=["notifications"])
page = browser.attach(browser.call("Target.createTarget", url="about:blank")["targetId"])
browser.call("Page.enable", page)
browser.call("Page.navigate", page, url=f"http://localhost:{site.server_port}/")
sessions = {"page": page, "extension": browser.worker()}
emit("started")
for order in commands():
    threading.Thread(target=evaluate, args=(browser, sessions[order["do"]], order["js"]), daemon=True).start()
browser.call("Browser.close")
browser.process.wait(20)
