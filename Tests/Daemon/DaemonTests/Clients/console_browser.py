"""Debian's Chromium with the console of the daemon.

    HOME CA    stores its profile in HOME and trusts CA, or only its default CAs for "-"

Commands, each answered by an event with the same name:
    {"do": "open", "url": "..."}                 loads a page
    {"do": "eval", "js": "..."}                  evaluates a script: "value" and "error"
    {"do": "until", "js": "...", "seconds": N}   waits until a script is true: "value"
    {"do": "keys", "keys": ["Tab", "a"]}         presses keys
    {"do": "type", "text": "..."}                types into the focused field
    {"do": "view", "width": N, "height": N, "dark": false}
    {"do": "shot", "path": "..."}                writes a PNG of the visible part, or with "whole" of the page
    {"do": "axe"}                                reports violations of WCAG 2.2 AA by axe-core
    {"do": "far", "milliseconds": N}             empties the cache, makes each answer late, and forgets earlier transfers
    {"do": "transfers"}                          returns the bytes on the wire since then, and how many answers waited for each other
    {"do": "complaints"}                         returns and forgets errors of the page: console, exceptions, CSP
"""
import base64
import importlib.util
import os
import sys
import time

from devtools import Browser, trust
from dialogue import commands, emit

HOME, AUTHORITY = sys.argv[1:3]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CODES = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40}
complaints = []
transfers = {}


def transfer(method, facts):
    """Counts what the page requests."""
    if method == "Network.requestWillBeSent":
        start = facts["timestamp"]
        transfers[facts["requestId"]] = {"url": facts["request"]["url"], "start": start, "end": None, "bytes": 0}
    known = transfers.get(facts.get("requestId"))
    if known is None:
        return
    # The end has the sum; a stream has none.
    if method == "Network.responseReceived":
        known["bytes"] = facts["response"]["encodedDataLength"]
    elif method == "Network.dataReceived":
        known["bytes"] += facts["encodedDataLength"]
    elif method == "Network.loadingFinished":
        known.update(end=facts["timestamp"], bytes=facts["encodedDataLength"])


def transferred():
    """Returns the bytes of all transfers, and the longest chain of those that began after another had ended."""
    depths = []
    for one in sorted(transfers.values(), key=lambda one: one["start"]):
        before = [depth for other, depth in depths if other["end"] and other["end"] <= one["start"]]
        depths.append((one, 1 + max(before, default=0)))
    first = min((one["start"] for one in transfers.values()), default=0)
    rows = [f"{depth} {one['bytes']} B {one['start'] - first:.3f} s to {(one['end'] or 0) - first:.3f} s {one['url']}"
            for one, depth in depths]
    return {"bytes": sum(one["bytes"] for one in transfers.values()), "chain": max((depth for _, depth in depths), default=0),
            "rows": rows}


def notice(event):
    """Collects what the page complains about."""
    method, facts = event["method"], event["params"]
    if method.startswith("Network."):
        transfer(method, facts)
    if method == "Runtime.exceptionThrown":
        details = facts["exceptionDetails"]
        complaints.append("exception: " + (details.get("exception", {}).get("description") or details["text"]))
    elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning", "assert"):
        complaints.append("console: " + " ".join(str(argument.get("value", "")) for argument in facts["args"]))
    elif method == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
        complaints.append(f"log: {facts['entry']['text']} {facts['entry'].get('url', '')}")


class Page:
    """One tab."""

    def __init__(self, browser):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def value(self, script):
        return self.browser.evaluate(self.session, script)

    def until(self, script, seconds):
        end = time.monotonic() + seconds
        while True:
            value, error = self.value(script)
            if value or time.monotonic() > end:
                return value, error
            time.sleep(0.1)

    def open(self, url):
        self.call("Page.navigate", url=url)
        return self.until("document.readyState === 'complete'", 20)[0]

    def press(self, key):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        code = CODES.get(key, ord(key[0].upper()))
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def view(self, width, height, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def far(self, milliseconds):
        self.call("Network.enable")
        self.call("Network.clearBrowserCache")
        self.call("Network.emulateNetworkConditions", offline=False, latency=milliseconds, downloadThroughput=-1, uploadThroughput=-1)
        transfers.clear()

    def shot(self, path, whole):
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def axe(self):
        """Runs axe-core in a world of its own, which the policy of the page does not concern."""
        package = importlib.util.find_spec("axe_core_python").submodule_search_locations[0]
        with open(os.path.join(package, "axe.min.js"), encoding="utf-8") as file:
            library = file.read()
        frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world = self.call("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
        run = ("axe.run(document, {runOnly: %r, resultTypes: ['violations']}).then(({violations}) => violations.map("
               "({id, help, nodes}) => `${id}: ${help}: ${nodes.map(({html, any}) => html.slice(0, 200) + ' '"
               " + (any[0]?.message ?? '')).join(' | ')}`))" % TAGS)
        self.call("Runtime.evaluate", expression=library, contextId=world)
        answer = self.call("Runtime.evaluate", expression=run, contextId=world, awaitPromise=True, returnByValue=True)
        return answer.get("result", {}).get("value", [f"axe failed: {answer}"])


def answer(page, order):
    match order["do"]:
        case "open": return {"value": page.open(order["url"])}
        case "eval": return dict(zip(("value", "error"), page.value(order["js"])))
        case "until": return dict(zip(("value", "error"), page.until(order["js"], order.get("seconds", 10))))
        case "keys": return {"value": [page.press(key) for key in order["keys"]] and True}
        case "type": return {"value": page.call("Input.insertText", text=order["text"]) == {}}
        case "view": return {"value": page.view(order["width"], order["height"], order.get("dark", False))}
        case "shot": return {"value": page.shot(order["path"], order.get("whole", False))}
        case "far": return {"value": page.far(order["milliseconds"])}
        case "transfers": return {"value": transferred()}
        case "axe": return {"value": page.axe()}
        case "complaints":
            found = list(complaints)
            complaints.clear()
            return {"value": found}


os.makedirs(HOME, exist_ok=True)
trust(HOME, AUTHORITY)
browser = Browser(HOME, ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"], notice)
page = Page(browser)
emit("started")
for order in commands():
    emit(order["do"], **answer(page, order))
browser.close()
