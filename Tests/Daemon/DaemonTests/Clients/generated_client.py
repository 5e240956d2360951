"""Generates a client from /openapi.json and calls every operation that accepts or returns JSON.

Arguments: PORT SENDER KEYFILE FOLDER GENERATOR; the server key is the first line of standard input, SSL_CERT_FILE and
REQUESTS_CA_BUNDLE are the CA. KEYFILE is the key file of a service account, the client is written to FOLDER.

Reports "generated" with the exit code and the output of the generator. On {"do": "call"} reports "called" for each JSON operation
of the document, with its name, the status and the type of the parsed response, or the error; then "finished". {"do": "generate",
"document": FILE} is answered by "generated" too.
"""
import importlib
import json
import os
import re
import ssl
import subprocess
import sys

import requests

from dialogue import arguments, commands, emit
from schemathesis_run import World, base64url

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "generated_ccsd_client"


def generate(generator, document, folder):
    """Generates the client. Returns the exit code and the output of the generator."""
    words = [
        generator, "generate", "--path", document, "--output-path", folder, "--meta", "none", "--overwrite",
        "--config", os.path.join(HERE, "openapi-client.yaml")]
    # The generator runs ruff from its own folder.
    path = os.path.dirname(generator) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": path})
    return done.returncode, (done.stdout + done.stderr)[-8_000:]


def json_operations(document):
    """Returns the operations that accept JSON, return JSON on success, or declare no success at all."""
    found = {}
    for item in document["paths"].values():
        if "servers" in item:
            continue  # Text pages of another port.
        for method, operation in item.items():
            if method == "parameters":
                continue
            takes = operation.get("requestBody", {}).get("content", {})
            fine = [answer for status, answer in operation["responses"].items() if status.startswith("2")]
            gives = [name for answer in fine for name in answer.get("content", {})]
            if "application/json" in [*takes, *gives] or not fine:
                found[operation["operationId"]] = operation
    return found


class Calls:
    """One call of each operation, in a method with the name of the operation."""

    def __init__(self, world):
        self.world = world
        self.client = importlib.import_module(PACKAGE)
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self.types = importlib.import_module(f"{PACKAGE}.types")
        self.tls = ssl.create_default_context(cafile=os.environ["REQUESTS_CA_BUNDLE"])

    def open(self, authorization=None, **headers):
        """Returns a client with these headers."""
        if authorization:
            headers["Authorization"] = authorization
        return self.client.Client(base_url=self.world.base, headers=headers, verify_ssl=self.tls)

    def by_key(self):
        return self.open(self.world.key)

    def by_access(self):
        return self.open(f"Bearer {self.world.access}")

    def by_installation(self, installation=None, refresh=False):
        """Returns a client with the access token of an installation and, if `refresh`, its refresh token."""
        installation = installation or self.world.installation
        proof = f"FIS_v2 {installation['refreshToken']}" if refresh else None
        headers = {"x-goog-firebase-installations-auth": installation["authToken"]["token"]}
        return self.open(proof, **headers)

    def read(self, model, **value):
        """Returns a body that is an instance of a model."""
        return getattr(self.models, model).from_dict(value)

    def web(self):
        world = self.world
        return {
            "endpoint": f"{world.base}/fcm/send/{world.push_token}", "p256dh": world.point,
            "auth": base64url(bytes(16))}

    # Devices

    def post_checkin(self, call):
        return call(client=self.open(), body=self.read("PostCheckinJsonBody", checkin={}, version=3))

    def post_v1_projects_project_installations(self, call):
        body = self.read("PostV1ProjectsProjectInstallationsBody", appId=f"1:{self.world.sender}:web:abc")
        return call("p", client=self.open(), body=body)

    def post_v1_projects_project_installations_installation_authTokens_generate(self, call):
        made = self.world.installation
        return call("p", made["fid"], client=self.by_installation(made, refresh=True))

    def delete_v1_projects_project_installations_installation(self, call):
        made = self.world.spare_installation
        return call("p", made["fid"], client=self.by_installation(made, refresh=True))

    def post_v1_projects_project_registrations(self, call):
        body = self.read("PostV1ProjectsProjectRegistrationsBody", web=self.web())
        return call(self.world.sender, client=self.by_installation(), body=body)

    def patch_v1_projects_project_registrations_registration(self, call):
        body = self.read("PatchV1ProjectsProjectRegistrationsRegistrationBody", web=self.web())
        return call(self.world.sender, self.world.web_token, client=self.by_installation(), body=body)

    def delete_v1_projects_project_registrations_registration(self, call):
        return call(self.world.sender, self.world.web_token, client=self.by_installation())

    def post_v1_projects_project_registrations_registration_topicSubscriptions_topic_subscribe(self, call):
        return call("p", self.world.installation["fid"], "news", client=self.by_installation())

    def post_v1_projects_project_registrations_registration_topicSubscriptions_topic_unsubscribe(self, call):
        return call("p", self.world.installation["fid"], "news", client=self.by_installation())

    def post_fcm_connect_subscribe(self, call):
        web = self.web()
        body = self.read(
            "PostFcmConnectSubscribeBody", authorized_entity=self.world.sender, endpoint=web["endpoint"],
            encryption_key=web["p256dh"], encryption_auth=web["auth"])
        return call(client=self.by_installation(), body=body)

    # App servers, legacy interfaces

    def send(self, call, model):
        body = self.read(
            model, registration_ids=[self.world.tokens[0], "nonsense"], data={"n": "1"}, time_to_live=60,
            notification={"title": "Hello"})
        return call(client=self.by_key(), body=body)

    def post_fcm_send(self, call):
        return self.send(call, "PostFcmSendJsonBody")

    def post_gcm_send(self, call):
        return self.send(call, "PostGcmSendJsonBody")

    def make_group(self, call, name):
        body = self.read(
            "GroupCreation", operation="create", notification_key_name=name,
            registration_ids=self.world.tokens[:2])
        return call(client=self.by_key(), project_id=self.world.sender, body=body)

    def post_fcm_notification(self, call):
        return self.make_group(call, "generated")

    def post_gcm_notification(self, call):
        return self.make_group(call, "generated too")

    def get_fcm_notification(self, call):
        return call(
            client=self.by_key(), project_id=self.world.sender, notification_key=self.world.kept_group)

    def get_gcm_notification(self, call):
        return call(client=self.by_key(), project_id=self.world.sender, notification_key_name="kept")

    def get_iid_info_token(self, call):
        details = self.models.GetIidInfoTokenDetails("true")
        return call(self.world.tokens[0], client=self.by_key(), details=details)

    def post_iid_v1_token_rel_topics_topic(self, call):
        return call(self.world.tokens[0], "news", client=self.by_key())

    def delete_iid_v1_token_rel_topics_topic(self, call):
        return call(self.world.tokens[0], "news", client=self.by_key())

    def relate(self, call, model):
        body = self.read(model, to="/topics/many", registration_tokens=[self.world.tokens[0], "nonsense"])
        return call(client=self.by_key(), body=body)

    def post_iid_v1_batchAdd(self, call):
        return self.relate(call, "PostIidV1BatchAddBody")

    def post_iid_v1_batchRemove(self, call):
        return self.relate(call, "PostIidV1BatchRemoveBody")

    def post_iid_v1_batchImport(self, call):
        body = self.read("PostIidV1BatchImportBody", application="com.example.ios", apns_tokens=["01" * 32])
        return call(client=self.by_key(), body=body)

    def get_v1_apps_bundle_apns_feedback(self, call):
        return call("com.example.app", client=self.by_key(), since="0", limit=10)

    # App servers, HTTP v1

    def post_v1_projects_project_messages_send(self, call):
        body = self.read(
            "SendMessageRequest",
            message={"token": self.world.tokens[0], "data": {"n": "1"}, "android": {"priority": "HIGH", "ttl": "60s"}})
        return call(self.world.project, client=self.by_access(), body=body)

    def get_v1_projects_project_messages_message(self, call):
        return call(self.world.project, self.world.message, client=self.by_access())

    def delete_v1_projects_project_registrations_registration_messages_message(self, call):
        return call(self.world.project, self.world.tokens[0], "unknown", client=self.by_key())

    def get_v1_projects_project_topics(self, call):
        return call(self.world.project, client=self.by_key(), page_size=10)

    def get_v1_projects_project_topics_topic_subscribers(self, call):
        return call(self.world.project, "kept", client=self.by_access(), page_size=10)

    def get_v1_projects_project_scheduledMessages(self, call):
        return call(self.world.project, client=self.by_key(), page_size=10)

    def get_v1_projects_project_deliveryData(self, call):
        return call(self.world.project, client=self.by_key(), days=7)

    def post_v1_projects_project_registrations_registration_topicSubscriptions(self, call):
        return call(self.world.project, self.world.tokens[1], client=self.by_access(), topic_name="made")

    def get_v1_projects_project_registrations_registration_topicSubscriptions(self, call):
        return call(self.world.project, self.world.tokens[0], client=self.by_access(), page_size=10)

    def get_v1_projects_project_registrations_registration_topicSubscriptions_topic(self, call):
        return call(self.world.project, self.world.tokens[0], "kept", client=self.by_access())

    def patch_v1_projects_project_registrations_registration_topicSubscriptions_topic(self, call):
        return call(self.world.project, self.world.tokens[0], "kept", client=self.by_access())

    def delete_v1_projects_project_registrations_registration_topicSubscriptions_topic(self, call):
        return call(self.world.project, self.world.tokens[1], "made", client=self.by_access())

    def get_v1_projects_project_serviceAccounts_account_allowedLocations(self, call):
        return call(self.world.project, "a@example.org", client=self.by_access())

    def grant(self, call, model):
        body = self.read(model, grant_type=self.world.grant, assertion=self.world.assertion)
        return call(client=self.open(), body=body)

    def post_token(self, call):
        return self.grant(call, "PostTokenBody")

    def post_oauth2_v4_token(self, call):
        return self.grant(call, "PostOauth2V4TokenBody")

    def post_o_oauth2_token(self, call):
        return self.grant(call, "PostOOauth2TokenBody")

    # Operations

    def get_openapi_json(self, call):
        return call(client=self.open())


def modules(folder):
    """Returns the modules of the generated calls by normalized name."""
    found = {}
    api = os.path.join(folder, "api")
    for section in sorted(os.listdir(api)):
        if not os.path.isdir(os.path.join(api, section)):
            continue
        for file in sorted(os.listdir(os.path.join(api, section))):
            if file.endswith(".py") and file != "__init__.py":
                found[bare(file.removesuffix(".py"))] = f"{PACKAGE}.api.{section}.{file.removesuffix('.py')}"
    return found


def bare(name):
    return re.sub("_", "", name).lower()


def call(calls, made, name):
    """Calls one operation and returns its result."""
    try:
        module = importlib.import_module(made[bare(name)])
        answer = getattr(calls, name)(module.sync_detailed)
    except Exception as error:  # The test reports any error.
        return {"error": f"{type(error).__name__}: {error}"[:2_000]}
    return {
        "status": int(answer.status_code), "type": type(answer.parsed).__name__,
        "text": answer.content.decode(errors="replace")[:500]}


def main():
    port, sender, key = arguments()
    key_file, folder, generator = sys.argv[3:6]
    world = World(f"https://localhost:{port}", sender, key, key_file)
    document = requests.get(f"{world.base}/openapi.json", timeout=20)
    path = os.path.join(folder, "openapi.json")
    with open(path, "wb") as file:
        file.write(document.content)
    code, words = generate(generator, path, os.path.join(folder, PACKAGE))
    emit("generated", code=code, words=words)
    sys.path.insert(0, folder)
    for command in commands():
        if command["do"] == "generate":
            code, words = generate(generator, command["document"], os.path.join(folder, "other_client"))
            emit("generated", code=code, words=words)
            continue
        calls, made = Calls(world), modules(os.path.join(folder, PACKAGE))
        for name in json_operations(document.json()):
            emit("called", operation=name, **call(calls, made, name))
        emit("finished")


if __name__ == "__main__":
    main()
