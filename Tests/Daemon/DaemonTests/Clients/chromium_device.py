"""Debian's Chromium, unmodified, with a web app that uses the Push API and an extension that uses chrome.gcm.

    HOME HTTPSPORT DEVICEPORT CA    stores its profile in HOME and trusts CA, or only its default CAs for "-"

Google's host names resolve to these ports, all others fail. Commands: {"do": "page" or "extension", "js": "..."}, answered by
"value"; messages are reported as "push" and "gcm". The browser closes when the input ends.
"""
import functools
import http.server
import json
import os
import sys
import threading

from devtools import Browser, trust
from dialogue import commands, emit

HOME, HTTPS_PORT, DEVICE_PORT, AUTHORITY = sys.argv[1:5]
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chromium")
RULES = ", ".join([
    f"MAP mtalk.google.com:5228 127.0.0.1:{DEVICE_PORT}", f"MAP android.clients.google.com:443 127.0.0.1:{HTTPS_PORT}",
    "MAP * ~NOTFOUND", "EXCLUDE localhost",
])


def notice(event):
    """Reports the messages that the page and the extension get."""
    if event["method"] == "Runtime.bindingCalled":
        emit(event["params"]["name"], value=json.loads(event["params"]["payload"]))


def attach(target):
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for name in ("push", "gcm"):
        browser.call("Runtime.addBinding", session, name=name)
    browser.call("Runtime.enable", session)
    return session


def worker():
    """Waits for the extension to run and attaches to it."""
    while True:
        for target in browser.call("Target.getTargets")["targetInfos"]:
            if target["url"].startswith("chrome-extension:"):
                return attach(target["targetId"])


def evaluate(session, script):
    value, error = browser.evaluate(session, script)
    emit("value", value=value, error=error)


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
trust(HOME, AUTHORITY)
browser = Browser(HOME, [f"--host-resolver-rules={RULES}", f"--load-extension={SITE}/extension",
                         "--disable-features=DisableLoadExtensionCommandLineSwitch"], notice)
browser.call("Browser.grantPermissions", permissions=["notifications"])
page = attach(browser.call("Target.createTarget", url="about:blank")["targetId"])
browser.call("Page.enable", page)
browser.call("Page.navigate", page, url=f"http://localhost:{site.server_port}/")
sessions = {"page": page, "extension": worker()}
emit("started")
for order in commands():
    threading.Thread(target=evaluate, args=(sessions[order["do"]], order["js"]), daemon=True).start()
browser.close()
