"""Debian's Chromium, headless, controlled through a pipe by the DevTools protocol."""
import json
import os
import queue
import subprocess
import sys
import threading

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe"]


class Browser:
    """The browser; it ends when the pipe is closed. `notify` gets each event of the protocol."""

    def __init__(self, home, arguments, notify):
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()
        self._waiting, self._count, self._lock, self._notify = {}, 0, threading.Lock(), notify

        def descriptors():
            copies = os.dup(theirs), os.dup(answers)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={home}/profile", *arguments, "about:blank"],
            env=dict(os.environ, HOME=home), stdout=sys.stderr, preexec_fn=descriptors, pass_fds=(3, 4))
        os.close(theirs)
        os.close(answers)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rest = b""
        while chunk := os.read(self._in, 65536):
            *whole, rest = (rest + chunk).split(b"\0")
            for text in whole:
                answer = json.loads(text)
                if answer.get("id") in self._waiting:
                    self._waiting.pop(answer["id"]).put(answer)
                elif "method" in answer:
                    self._notify(answer)

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

    def evaluate(self, session, script):
        """Evaluates a script, of whose promise it awaits the value. Returns the value and the text of an exception."""
        answer = self.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
        failure = answer.get("exceptionDetails", {})
        return answer.get("result", {}).get("value"), failure.get("exception", {}).get("description") or failure.get("text")

    def close(self):
        self.call("Browser.close")
        self.process.wait(20)


def trust(home, authority):
    """Makes the profile in a home trust a CA, or only the default ones for "-"."""
    store = f"{home}/.pki/nssdb"
    if os.path.isdir(store):
        return
    os.makedirs(store)
    subprocess.run(["certutil", "-d", f"sql:{store}", "-N", "--empty-password"], check=True)
    if authority != "-":
        subprocess.run(["certutil", "-d", f"sql:{store}", "-A", "-t", "C,,", "-n", "ccsd", "-i", authority], check=True)
