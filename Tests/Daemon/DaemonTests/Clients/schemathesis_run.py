"""Schemathesis against a daemon: valid and invalid requests generated from its OpenAPI document, and every response validated
against it.

Arguments: PORT SENDER KEYFILE FOLDER; the server key is the first line of standard input, REQUESTS_CA_BUNDLE is the CA. KEYFILE
is the key file of a service account, FOLDER is for files of the run.

Command {"do": "run"}, optionally with "examples" (per operation), "document" (a file in place of /openapi.json), "include" or
"exclude" (a regular expression of paths), "origin" (another address), "credentials" (of another document) and "seed" (without it all runs send the same requests).
Answer: "finished" with the exit code, the statuses of each operation and the output of the tool. Command {"do": "validate",
"document": FILE}. Answer: "validated" with the first error, if any.
"""
import base64
import collections
import json
import os
import subprocess
import sys
import time
import uuid

import jwt
import requests
from cryptography.hazmat.primitives import serialization
from openapi_spec_validator import validate
from py_vapid import Vapid02

from dialogue import arguments, commands, emit

HERE = os.path.dirname(os.path.abspath(__file__))


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class World:
    """State in the daemon that valid requests need: a device, its tokens, an installation, a group, a topic."""

    def __init__(self, base, sender, key, key_file):
        self.base, self.sender = base, sender
        self.key = f"key={key}"
        made = self.post("/checkin", json={"checkin": {}, "version": 3}).json()
        self.device = str(made["android_id"])
        self.login = f"AidLogin {self.device}:{made['security_token']}"
        self.tokens = [self.register(f"com.example.app{number}", sender) for number in range(3)]
        vapid = Vapid02()
        vapid.generate_keys()
        point = vapid.public_key.public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.point = base64url(point)
        self.push_token = self.register("org.chromium.linux", self.point)
        signed = vapid.sign({"sub": "mailto:a@example.org", "aud": base, "exp": int(time.time()) + 40_000})
        self.vapid = signed["Authorization"]
        app = f"1:{sender}:web:abc"
        self.installation = self.post("/v1/projects/p/installations", json={"appId": app}).json()
        self.spare_installation = self.post("/v1/projects/p/installations", json={"appId": app}).json()
        self.fis = self.installation["authToken"]["token"]
        self.web_token = self.register_web(self.push_token)
        self.post(
            "/v1/projects/p/registrations", json={"ios": {"bundle_id": "com.example.ios", "apns_token": "00" * 32}},
            headers={"x-goog-firebase-installations-auth": self.fis})
        self.spare = self.register_web(self.register("org.chromium.linux", self.point, "wp:spare"))
        with open(key_file) as file:
            account = json.load(file)
        self.project = account["project_id"]
        now = int(time.time())
        claims = {
            "iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
            "scope": "https://www.googleapis.com/auth/firebase.messaging",
        }
        self.assertion = jwt.encode(
            claims, account["private_key"], "RS256", headers={"kid": account["private_key_id"]})
        self.grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
        granted = self.post("/token", data={"grant_type": self.grant, "assertion": self.assertion})
        self.access = granted.json()["access_token"]
        self.group = self.make_group("group", self.tokens[:2])
        # Its member is not in a dictionary, so no generated request can remove it and end the group.
        self.kept_group = self.make_group("kept", [self.register("com.example.kept", sender)])

        self.post(f"/iid/v1/{self.tokens[0]}/rel/topics/kept", headers={"Authorization": self.key})
        # The ID of another message has a percent sign, which the client does not always escape.
        sent = self.post(
            "/fcm/send", json={"to": "/topics/kept", "data": {"n": "1"}, "time_to_live": 60},
            headers={"Authorization": self.key})
        self.message = str(sent.json()["message_id"])

    def post(self, path, **request):
        answer = requests.post(self.base + path, timeout=20, **request)
        answer.raise_for_status()
        return answer

    def register_web(self, endpoint):
        """Registers a token with keys for the installation, which can renew and delete it."""
        web = {
            "endpoint": f"{self.base}/fcm/send/{endpoint}", "p256dh": self.point, "auth": base64url(bytes(16))}
        answer = self.post(
            f"/v1/projects/{self.sender}/registrations", json={"web": web},
            headers={"x-goog-firebase-installations-auth": self.fis})
        return answer.json()["token"]

    def register(self, app, sender, subtype=None):
        form = {"app": app, "device": self.device, "sender": sender, "X-subtype": subtype or sender}
        answer = self.post("/c2dm/register3", data=form, headers={"Authorization": self.login}).text
        if not answer.startswith("token="):
            raise ValueError(answer)
        return answer.removeprefix("token=")

    def make_group(self, name, tokens):
        group = {"operation": "create", "notification_key_name": name, "registration_ids": tokens}
        answer = self.post(
            "/fcm/notification", json=group, headers={"Authorization": self.key, "project_id": self.sender})
        return answer.json()["notification_key"]

    def dictionaries(self):
        """Returns valid values by the names of the dictionaries in the settings."""
        return {
            "tokens": self.tokens, "targets": [*self.tokens, self.group, "/topics/news"],
            "registrations": [*self.tokens, self.installation["fid"]], "projects": [self.project, self.sender],
            "messages": [self.message],
            "spare_registrations": [self.spare], "spare_installations": [self.spare_installation["fid"]],
            "kept_registrations": self.tokens[:1], "kept_topics": ["kept"], "codings": ["aes128gcm"],
            "web_registrations": [self.web_token],
            "installations": [self.installation["fid"]], "push_tokens": [self.push_token],
            "senders": [self.sender], "devices": [self.device], "groups": [self.group, self.kept_group],
            "group_names": ["group", "kept"], "topics": ["news", "weather"], "topic_paths": ["/topics/news"],
            "keys": [self.point], "secrets": [base64url(bytes(16))],
            "endpoints": [f"{self.base}/fcm/send/{self.push_token}"],
            "assertions": [self.assertion], "lifetimes": ["0", "60"], "pages": [1, 1000],
            "conditions": ["'news' in topics && !('weather' in topics)"],
        }

    def credentials(self):
        refresh = f"FIS_v2 {self.spare_installation['refreshToken']}"
        return {
            "serverKey": {"api_key": self.key}, "accessToken": {"bearer": self.access},
            "aidLogin": {"api_key": self.login}, "installationToken": {"api_key": self.fis},
            "refreshToken": {"api_key": refresh}, "vapid": {"api_key": self.vapid},
        }


def settings(world, folder, command):
    """Writes the settings of schemathesis.toml with the values of this daemon to a file with mode 0600. Returns its path."""
    with open(os.path.join(HERE, "schemathesis.toml")) as file:
        text = file.read()
    words = {"EXAMPLES": command.get("examples", 1), "DETERMINISTIC": "seed" not in command}
    for word, value in words.items():
        text = text.replace(f"@{word}@", json.dumps(value))
    lines = [text]
    for name, value in command.get("credentials", world.credentials()).items():
        (key, secret), = value.items()
        lines.append(f"[auth.openapi.{name}]\n{key} = {json.dumps(secret)}")
    for name, values in world.dictionaries().items():
        lines.append(f"[dictionaries.{name}]\nvalues = {json.dumps(values)}")
    path = os.path.join(folder, f"schemathesis-{uuid.uuid4().hex}.toml")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("\n\n".join(lines) + "\n")
    return path


def statuses(report):
    """Returns the count of each status by operation."""
    found = collections.defaultdict(collections.Counter)
    with open(report) as file:
        for line in file:
            recorder = json.loads(line).get("ScenarioFinished", {}).get("recorder", {})
            for exchange in (recorder.get("interactions") or {}).values():
                if exchange.get("response"):
                    found[recorder["label"]][str(exchange["response"]["status_code"])] += 1
    return found


def run(world, folder, command):
    path = settings(world, folder, command)
    report = path.removesuffix(".toml") + ".ndjson"
    words = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", path, "run",
        command.get("document", world.base + "/openapi.json"), "--url", command.get("origin", world.base),
        "--tls-verify", os.environ["REQUESTS_CA_BUNDLE"], "--no-color",
        "--report", "ndjson", "--report-ndjson-path", report,
    ]
    for name in ("include", "exclude"):
        if name in command:
            words += [f"--{name}-path-regex", command[name]]
    if "seed" in command:
        words += ["--seed", str(command["seed"])]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": HERE}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    failures = done.stdout.partition("= FAILURES =")[2] or done.stdout
    return {"code": done.returncode, "statuses": statuses(report), "text": failures[:20_000] + done.stderr[-4_000:]}


def complaint(document):
    """Returns the first error of an OpenAPI document, or None if it is valid."""
    with open(document) as file:
        try:
            validate(json.load(file))
        except Exception as error:
            return str(error)[:2_000]
    return None


def main():
    port, sender, key = arguments()
    key_file, folder = sys.argv[3], sys.argv[4]
    world = World(f"https://localhost:{port}", sender, key, key_file)
    emit("ready")
    for command in commands():
        if command["do"] == "validate":
            emit("validated", complaint=complaint(command["document"]))
        else:
            emit("finished", **run(world, folder, command))


if __name__ == "__main__":
    main()
