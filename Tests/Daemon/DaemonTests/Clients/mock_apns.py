#!/usr/bin/env python3
"""mock_apns.py - a measuring stand-in for Apple's APNs provider API.

HTTP/2 over TLS, ES256 provider tokens or client certificates, header and payload checks, scripted
replies chosen by the first hex digits of the device token, one JSON line a request.

    pip install h2 cryptography
    ./mock_apns.py init DIR                 make a CA, server/client certificates, P12s and .p8 keys
    ./mock_apns.py serve --dir DIR          production on 8443, sandbox on 8444, control on 8445
    ./mock_apns.py selftest                 starts one in a scratch folder and drives it with curl
    ./mock_apns.py prefixes                 prints the scripted token prefixes

Where Apple documents a rule, the rule is enforced. Where it does not, the choice is marked
"mock:" below and the request is only given a "lint" entry in the log.
"""
import argparse
import asyncio
import base64
import binascii
import collections
import datetime
import json
import logging
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import uuid

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (ConnectionTerminated, DataReceived, PingAckReceived, PingReceived, PriorityUpdated, RemoteSettingsChanged,
                       RequestReceived, StreamEnded, StreamReset)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

from mock_apns_faults import Faults

OID_SANDBOX = ObjectIdentifier("1.2.840.113635.100.6.3.1")
OID_PRODUCTION = ObjectIdentifier("1.2.840.113635.100.6.3.2")
OID_TOPICS = ObjectIdentifier("1.2.840.113635.100.6.3.6")

PUSH_TYPES = {  # push type -> what the topic must end in ("" = the bundle id itself)
    "alert": "", "background": "", "complication": ".complication", "controls": ".push-type.controls",
    "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity",
    "location": ".location-query", "mdm": "", "pushtotalk": ".voip-ptt", "voip": ".voip",
    "widgets": ".push-type.widgets",
}

# prefix -> (status, reason, note)
ANSWERS = {
    "0400": (400, "BadDeviceToken", ""),
    "1400": (400, "DeviceTokenNotForTopic", ""),
    "2400": (400, "TopicDisallowed", ""),
    "0403": (403, "ExpiredProviderToken", "and every later request on that connection (wedged)"),
    "1403": (403, "InvalidProviderToken", ""),
    "2403": (403, "BadEnvironmentKeyInToken", "the spelling seen in the wild; Apple's page has ...KeyIdInToken"),
    "3403": (403, "Forbidden", ""),
    "4403": (403, "UnrelatedKeyIdInToken", ""),
    "5403": (403, "BadCertificate", ""),
    "0410": (410, "Unregistered", "next 8 hex digits, when not 0, are the timestamp in seconds"),
    "1410": (410, "ExpiredToken", "as 0410"),
    "0413": (413, "PayloadTooLarge", ""),
    "0429": (429, "TooManyRequests", ""),
    "1429": (429, "TooManyProviderTokenUpdates", ""),
    "0500": (500, "InternalServerError", ""),
    "0503": (503, "ServiceUnavailable", ""),
    "1503": (503, "Shutdown", ""),
}
SPECIALS = {
    "f10": "next digit k: the first k attempts get 503 ServiceUnavailable, then 200",
    "d1a0": "next 4 decimal digits: answer 200 after that many milliseconds",
    "dead": "never answered",
    "60a0": "200, then GOAWAY naming this stream as the last, then close",
    "60a1": "GOAWAY {\"reason\":\"Shutdown\"} naming the stream before this one; this one stays unanswered; close",
    "60a2": "TCP connection aborted without an answer",
    "60a3": "200, GOAWAY with last stream 2^31-1, and 300 ms later the final GOAWAY and close",
    "7e50": "RST_STREAM INTERNAL_ERROR",
    "7e57": "RST_STREAM REFUSED_STREAM (safe to send again)",
    "7e5c": "RST_STREAM ENHANCE_YOUR_CALM",
    "bad0": "500 with no body",
    "bad1": "400 with a body that is not JSON",
    "bad2": "502 with an HTML page",
    "bad3": "200 whose END_STREAM comes in an empty DATA frame",
    "bad4": "200 without apns-id",
    "5e70": "next 4 decimal digits n: SETTINGS_MAX_CONCURRENT_STREAMS=n, then 200",
    "5a": "a sandbox token: 400 BadDeviceToken on the production port",
    "9d": "a production token: 400 BadDeviceToken on the sandbox port",
}


def b64u(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64u(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def make_jwt(p8_pem, kid, team, iat=None, alg="ES256"):
    key = serialization.load_pem_private_key(p8_pem, None)
    head = b64u(json.dumps({"alg": alg, "kid": kid}).encode())
    body = b64u(json.dumps({"iss": team, "iat": int(time.time() if iat is None else iat)}).encode())
    r, s = decode_dss_signature(key.sign(f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256())))
    return f"{head}.{body}.{b64u(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


# ------------------------------------------------------------------------------------------ init

def der(tag, body):
    n = len(body)
    size = bytes([n]) if n < 128 else bytes([0x80 | (n.bit_length() + 7) // 8]) + n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag]) + size + body


def topics_extension(topics):
    """SEQUENCE of UTF8String topic, SEQUENCE { UTF8String kind } pairs - the form Apple's certificates carry."""
    return der(0x30, b"".join(der(0x0C, t.encode()) + der(0x30, der(0x0C, k.encode())) for t, k in topics))


def parse_topics(data):
    found, i = [], 0
    if data[:1] != b"\x30":
        return found

    def head(at):
        n, at = data[at + 1], at + 2
        if n & 0x80:
            k = n & 0x7F
            n, at = int.from_bytes(data[at:at + k], "big"), at + k
        return n, at
    n, i = head(0)
    end = i + n
    while i < end:
        tag = data[i]
        n, at = head(i)
        if tag == 0x0C:
            found.append(data[at:at + n].decode("utf-8", "replace"))
        i = at + n
    return found


def init(folder, bundle, team):
    os.makedirs(folder, exist_ok=True)
    now = datetime.datetime.now(datetime.timezone.utc)
    day = datetime.timedelta(days=1)

    def put(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)

    def pem_key(key):
        return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def cert(subject, key, issuer, issuer_key, start, end, extensions):
        b = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
             .serial_number(x509.random_serial_number()).not_valid_before(start).not_valid_after(end))
        for e, critical in extensions:
            b = b.add_extension(e, critical)
        return b.sign(issuer_key, hashes.SHA256())

    ca_key = rsa.generate_private_key(65537, 2048)
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Mock Apple Push CA")])
    ca = cert(ca_name, ca_key, ca_name, ca_key, now - day, now + 3650 * day, [(x509.BasicConstraints(True, None), True)])
    put("ca.pem", ca.public_bytes(serialization.Encoding.PEM))
    put("ca.key", pem_key(ca_key))

    import ipaddress
    key = rsa.generate_private_key(65537, 2048)
    names = ["localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com"]
    san = x509.SubjectAlternativeName([x509.DNSName(n) for n in names] +
                                      [x509.IPAddress(ipaddress.ip_address(a)) for a in ("127.0.0.1", "::1")])
    c = cert(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "api.push.apple.com")]), key, ca_name, ca_key,
             now - day, now + 825 * day, [(san, False), (x509.BasicConstraints(False, None), True)])
    put("server.pem", c.public_bytes(serialization.Encoding.PEM))
    put("server.key", pem_key(key))

    null = b"\x05\x00"
    multi = topics_extension([(bundle, "app"), (bundle + ".voip", "voip"), (bundle + ".complication", "complication")])
    clients = {
        "universal": ("Apple Push Services: " + bundle, [(OID_SANDBOX, null), (OID_PRODUCTION, null), (OID_TOPICS, multi)], now + 365 * day),
        "development": ("Apple Development IOS Push Services: " + bundle, [(OID_SANDBOX, null)], now + 365 * day),
        "production": ("Apple Production IOS Push Services: " + bundle, [(OID_PRODUCTION, null)], now + 365 * day),
        "expired": ("Apple Push Services: " + bundle, [(OID_SANDBOX, null), (OID_PRODUCTION, null)], now - day),
        "notpush": ("Apple Distribution: Example", [], now + 365 * day),
    }
    for name, (cn, exts, end) in clients.items():
        key = rsa.generate_private_key(65537, 2048)
        subject = x509.Name([x509.NameAttribute(NameOID.USER_ID, bundle), x509.NameAttribute(NameOID.COMMON_NAME, cn),
                             x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, team)])
        c = cert(subject, key, ca_name, ca_key, now - 400 * day, end,
                 [(x509.UnrecognizedExtension(o, v), False) for o, v in exts] +
                 [(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False), (x509.BasicConstraints(False, None), True)])
        put(f"client_{name}.pem", c.public_bytes(serialization.Encoding.PEM))
        put(f"client_{name}.key", pem_key(key))
        put(f"client_{name}.p12", pkcs12.serialize_key_and_certificates(
            cn.encode(), key, c, None, serialization.BestAvailableEncryption(b"secret")))
    # what Keychain Access writes: RC2-40 for the certificate, 3DES for the key, SHA-1 MAC
    p = os.path.join(folder, "client_universal")
    r = subprocess.run(["openssl", "pkcs12", "-export", "-legacy", "-in", p + ".pem", "-inkey", p + ".key", "-name", bundle,
                        "-passout", "pass:secret", "-out", p + "_legacy.p12"], capture_output=True)
    if r.returncode:
        print("note: no legacy P12 made:", r.stderr.decode().strip()[:120], file=sys.stderr)

    keys = {}
    for kid, opts in {"ABC123DEFG": {}, "REL123DEFG": {"related": ["ABC123DEFG"]}, "SANDBOX001": {"env": "sandbox"},
                      "PRODONLY01": {"env": "production"}, "TOPICONLY1": {"topics": [bundle]},
                      "OTHERTEAM1": {"team": "ZZZ999ZZZZ"}, "UNKNOWN001": None}.items():
        key = ec.generate_private_key(ec.SECP256R1())
        put(f"AuthKey_{kid}.p8", pem_key(key))
        if opts is not None:
            keys[kid] = {"team": team, "env": "any", "topics": None, "related": [], **opts,
                         "public": key.public_key().public_bytes(serialization.Encoding.PEM,
                                                                 serialization.PublicFormat.SubjectPublicKeyInfo).decode()}
    put("keys.json", json.dumps(keys, indent=1).encode())
    put("mock.json", json.dumps({"bundle": bundle, "team": team, "p12_password": "secret"}, indent=1).encode())


# ----------------------------------------------------------------------------------------- server

class Refused(Exception):
    def __init__(self, status, reason, wedge=False):
        self.status, self.reason, self.wedge = status, reason, wedge


class Lenient(H2Connection):
    """h2 would tear the connection down when a client overruns the stream limit; APNs refuses the stream."""

    @property
    def open_inbound_streams(self):
        H2Connection.open_inbound_streams.fget(self)  # prunes closed streams
        return 0


class Stream:
    __slots__ = ("id", "headers", "body", "t0", "done", "size", "concurrent")

    def __init__(self, sid, headers, concurrent):
        self.id, self.headers, self.body, self.size = sid, headers, bytearray(), 0
        self.t0, self.done, self.concurrent = time.monotonic(), False, concurrent


class Mock:
    def __init__(self, args):
        self.args = args
        folder = args.dir
        with open(os.path.join(folder, "keys.json")) as f:
            self.keys = json.load(f)
        for k in self.keys.values():
            k["public"] = serialization.load_pem_public_key(k["public"].encode())
        with open(os.path.join(folder, "mock.json")) as f:
            self.conf = json.load(f)
        # A line that is written at once is in the log before the answer is on the wire.
        self.out = sys.stdout if args.log == "-" else open(args.log, "a", buffering=1 if args.log_at_once else 1 << 16)
        self.faults = Faults(args.faults) if args.faults else None
        self.flush_due = False
        self.conns = {}
        self.rules = []
        self.refuse = False
        self.started = time.time()
        self.reset()

    def reset(self):
        self.stats = collections.Counter()
        self.by_reason = collections.Counter()
        self.attempts = collections.Counter()
        self.peak = 0
        self.first = self.last = None
        self.wire_in = self.wire_out = 0

    def log(self, **row):
        self.out.write(json.dumps({"ts": round(time.time(), 6), **row}, separators=(",", ":")) + "\n")
        if not self.flush_due:
            self.flush_due = True
            asyncio.get_running_loop().call_later(0.02, self.flush)

    def flush(self):
        self.flush_due = False
        self.out.flush()

    def tls(self):
        ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        ctx.minimum_version = ssl.TLSVersion.TLSv1_2
        ctx.load_cert_chain(os.path.join(self.args.dir, "server.pem"), os.path.join(self.args.dir, "server.key"))
        ctx.load_verify_locations(os.path.join(self.args.dir, "ca.pem"))
        ctx.verify_mode = ssl.CERT_OPTIONAL
        ctx.set_alpn_protocols(["h2"])
        return ctx

    # ---- one request's verdict -------------------------------------------------------------

    def check_headers(self, conn, s, row, lint):
        names = [n for n, _ in s.headers]
        h = dict(s.headers)
        row.update(path=h.get(":path"), push_type=h.get("apns-push-type"), priority=h.get("apns-priority"),
                   expiration=h.get("apns-expiration"), collapse_id=h.get("apns-collapse-id"), topic=h.get("apns-topic"))
        if h.get(":method") != "POST":
            raise Refused(405, "MethodNotAllowed")
        m = re.fullmatch(r"/3/device(?:/([^/?#]*))?", h.get(":path") or "")
        if not m:
            raise Refused(404, "BadPath")
        token = m.group(1) or ""
        row["token"] = token
        if not token:
            raise Refused(400, "MissingDeviceToken")
        watched = [n for n in names if n.startswith("apns-") or n == "authorization"]
        if len(watched) != len(set(watched)):
            raise Refused(400, "DuplicateHeaders")
        if "apns-id" in h:
            try:
                if str(uuid.UUID(h["apns-id"])) != h["apns-id"].lower():
                    raise ValueError
            except ValueError:
                raise Refused(400, "BadMessageId") from None
            if h["apns-id"] != h["apns-id"].lower():
                lint.append("apns-id not lower case")
        if "apns-expiration" in h:
            if not re.fullmatch(r"\d{1,12}", h["apns-expiration"]):
                raise Refused(400, "BadExpirationDate")
            exp = int(h["apns-expiration"])
            if exp and exp < time.time() - 60:
                lint.append("apns-expiration lies in the past")
            if exp > time.time() + 31 * 86400:
                lint.append("apns-expiration more than 30 days ahead")
        if "apns-priority" in h and h["apns-priority"] not in ("1", "5", "10"):
            raise Refused(400, "BadPriority")
        if len(h.get("apns-collapse-id", "").encode()) > 64:
            raise Refused(400, "BadCollapseId")
        kind = h.get("apns-push-type")
        if kind is None:
            lint.append("no apns-push-type")
        elif kind not in PUSH_TYPES:
            raise Refused(400, "InvalidPushType")
        elif kind == "background" and h.get("apns-priority") == "10":
            raise Refused(400, "BadPriority")  # "using priority 10 is an error"
        elif kind == "background" and "apns-priority" not in h:
            lint.append("background push without apns-priority: APNs takes 10")
        for n in names:
            if n in ("connection", "transfer-encoding", "expect"):
                lint.append("header " + n)
        if h.get("content-encoding"):
            lint.append("compressed payload")
        return h, token

    def check_auth(self, conn, h, row):
        a = self.args
        if conn.cert:
            row["auth"] = "cert"
            if "authorization" in h:
                row["auth"] = "cert+ignored-token"
            if not conn.cert["envs"]:
                raise Refused(403, "BadCertificate")
            if conn.env not in conn.cert["envs"]:
                raise Refused(403, "BadCertificateEnvironment")
            return None
        row["auth"] = "token"
        if conn.wedged:
            raise Refused(403, conn.wedged)
        m = re.fullmatch(r"(?i:bearer)\s+(\S+)", h.get("authorization", ""))
        if not m:
            raise Refused(403, "MissingProviderToken")
        text = m.group(1)
        if text == conn.token_text:
            claims = conn.token_claims
        else:
            claims = self.verify(text)
        now = time.time()
        row.update(kid=claims["kid"], team=claims["iss"], token_age=round(now - claims["iat"], 1))
        key = self.keys[claims["kid"]]
        if now - claims["iat"] > a.token_life:
            raise Refused(403, "ExpiredProviderToken", wedge=True)
        if claims["iat"] - now > a.clock_skew:
            raise Refused(403, "InvalidProviderToken")
        if key["env"] not in ("any", conn.env):
            raise Refused(403, "BadEnvironmentKeyInToken")
        if conn.team is None:
            conn.team, conn.first_kid = claims["iss"], claims["kid"]
        elif conn.team != claims["iss"]:
            raise Refused(403, "InvalidProviderToken")
        elif claims["kid"] != conn.first_kid and conn.first_kid not in key["related"] \
                and claims["kid"] not in self.keys[conn.first_kid]["related"]:
            raise Refused(403, "UnrelatedKeyIdInToken")
        if text != conn.token_text:
            if conn.token_text is not None and claims["kid"] == conn.token_claims["kid"] and now - conn.token_since < a.token_window:
                conn.token_updates += 1
                if conn.token_updates > a.token_updates:
                    raise Refused(429, "TooManyProviderTokenUpdates")
            conn.token_text, conn.token_claims, conn.token_since = text, claims, now
        return key

    def verify(self, text):
        try:
            head, body, sig = text.split(".")
            head_d, body_d, sig_b = json.loads(unb64u(head)), json.loads(unb64u(body)), unb64u(sig)
            iss, iat, kid = body_d["iss"], int(body_d["iat"]), head_d["kid"]
        except (ValueError, KeyError, TypeError, binascii.Error):
            raise Refused(403, "InvalidProviderToken") from None
        key = self.keys.get(kid)
        if head_d.get("alg") != "ES256" or key is None or key["team"] != iss:
            raise Refused(403, "InvalidProviderToken")
        if len(sig_b) == 64:  # JWS form; the sample on Apple's page, and pushy, use the DER form
            sig_b = encode_dss_signature(int.from_bytes(sig_b[:32], "big"), int.from_bytes(sig_b[32:], "big"))
        try:
            key["public"].verify(sig_b, f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise Refused(403, "InvalidProviderToken") from None
        return {"iss": iss, "iat": iat, "kid": kid}

    def check_topic(self, conn, h, key, lint):
        topic = h.get("apns-topic")
        kind = h.get("apns-push-type")
        if conn.cert:
            if topic is None:
                if conn.cert["multi"]:
                    raise Refused(400, "MissingTopic")
                return
            if topic not in conn.cert["topics"]:
                raise Refused(400, "TopicDisallowed")
        else:
            if topic is None:
                raise Refused(400, "MissingTopic")
            if key["topics"] is not None and topic not in key["topics"]:
                raise Refused(400, "TopicDisallowed")
        if not re.fullmatch(r"[A-Za-z0-9.\-_]{1,255}", topic):
            raise Refused(400, "BadTopic")
        if kind in PUSH_TYPES and PUSH_TYPES[kind] and not topic.endswith(PUSH_TYPES[kind]):
            lint.append(f"topic of a {kind} push should end in {PUSH_TYPES[kind]}")

    def check_payload(self, h, s, row, lint):
        row["bytes"] = s.size
        if not s.size:
            raise Refused(400, "PayloadEmpty")
        if s.size > (5120 if h.get("apns-push-type") == "voip" else 4096):
            raise Refused(413, "PayloadTooLarge")
        try:
            body = json.loads(bytes(s.body))
        except ValueError:
            lint.append("payload is not JSON")  # mock: Apple does not say what it answers
            return
        if self.args.log_payload:
            row["payload"] = body
        aps = body.get("aps") if isinstance(body, dict) else None
        if not isinstance(aps, dict):
            lint.append("no aps dictionary")
            return
        known = {"alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id",
                 "interruption-level", "relevance-score", "filter-criteria", "stale-date", "content-state", "timestamp", "event",
                 "dismissal-date", "attributes-type", "attributes", "url-args", "content-changed"}
        for k in aps:
            if k not in known:
                lint.append("unknown aps key " + k)
        shown = [k for k in ("alert", "badge", "sound") if k in aps]
        kind = h.get("apns-push-type")
        if kind == "background" and (shown or aps.get("content-available") != 1):
            lint.append("background push must hold content-available 1 and none of alert, badge, sound")
        if kind == "alert" and not shown:
            lint.append("alert push holds none of alert, badge, sound")
        if "badge" in aps and (isinstance(aps["badge"], bool) or not isinstance(aps["badge"], int)):
            lint.append("badge is not a number")
        for k in ("content-available", "mutable-content"):
            if k in aps and aps[k] != 1:
                lint.append(k + " is not 1")

    def verdict(self, conn, s, row, lint):
        """-> (status, reason, delay in seconds, action)"""
        h, token = self.check_headers(conn, s, row, lint)
        key = self.check_auth(conn, h, row)
        self.check_topic(conn, h, key, lint)
        if not re.fullmatch(r"(?:[0-9a-fA-F]{2}){32,200}", token):
            raise Refused(400, "BadDeviceToken")
        self.check_payload(h, s, row, lint)
        t = token.lower()
        if t != token:
            lint.append("device token not lower case")
        n = self.attempts[t] = self.attempts[t] + 1
        row["attempt"] = n
        for rule in self.rules:
            if t.startswith(rule["prefix"]) and rule.get("times", 1) != 0:
                if "times" in rule:
                    rule["times"] -= 1
                return rule.get("status", 200), rule.get("reason"), rule.get("delay_ms", 0) / 1000, rule.get("action")
        if self.faults and "n" in row.get("payload", {}):
            return self.faults.choose(row["payload"]["n"], n)
        # Scripted tokens are filled up with zeros: the random one of a client's self-test must not meet a script.
        if "0" * 16 not in t:
            return 200, None, 0, None
        if t[:4] in ANSWERS:
            status, reason, _ = ANSWERS[t[:4]]
            if reason == "ExpiredProviderToken" and not conn.cert:
                conn.wedged = reason
            return status, reason, 0, None
        if t.startswith("f10"):
            return (503, "ServiceUnavailable", 0, None) if n <= int(t[3], 16) else (200, None, 0, None)
        if t.startswith("d1a0"):
            return 200, None, int(re.match(r"\d*", t[4:8]).group() or 0) / 1000, None
        for p in ("dead", "60a0", "60a1", "60a2", "60a3", "7e50", "7e57", "7e5c", "bad0", "bad1", "bad2", "bad3", "bad4", "5e70"):
            if t.startswith(p):
                return 200, None, 0, p
        if (t.startswith("5a") and conn.env == "production") or (t.startswith("9d") and conn.env == "sandbox"):
            return 400, "BadDeviceToken", 0, None
        return 200, None, 0, None


class Conn(asyncio.Protocol):
    serial = 0

    def __init__(self, mock, env):
        self.mock, self.env = mock, env
        Conn.serial += 1
        self.n = Conn.serial
        self.streams, self.cert, self.wedged, self.team, self.first_kid = {}, None, None, None, None
        self.token_text = self.token_claims = None
        self.token_since = 0
        self.token_updates = 0
        self.limit = self.errors = self.served = self.pings = self.priorities = self.last_id = 0
        self.proven = 0  # answers that the client has certainly read
        self.is_proving = False
        self.trusted = False
        self.goaway_at = None  # last stream id we still answer, once a GOAWAY is out
        self.transport = None
        self.idle = None

    # ---- transport ----
    def connection_made(self, transport):
        self.transport = transport
        tls = transport.get_extra_info("ssl_object")
        raw = tls.getpeercert(binary_form=True)
        m = self.mock
        m.stats["connections"] += 1
        m.conns[self.n] = self
        if raw:
            self.cert = self.read_cert(raw)
        m.log(event="open", conn=self.n, env=self.env, tls=tls.version(), alpn=tls.selected_alpn_protocol(),
              cert=self.cert and {k: v for k, v in self.cert.items()})
        if m.refuse or tls.selected_alpn_protocol() not in ("h2", None):  # pushy offers no ALPN by default, and APNs takes it
            transport.abort()
            return
        a = m.args
        self.limit = a.max_streams if (self.cert or a.initial_streams == 0) else a.initial_streams
        self.trusted = bool(self.cert)
        self.h2 = Lenient(H2Configuration(client_side=False, header_encoding="utf-8", validate_inbound_headers=False))
        self.h2.local_settings = Settings(client=False, initial_values={
            SettingCodes.HEADER_TABLE_SIZE: 4096, SettingCodes.MAX_CONCURRENT_STREAMS: self.limit,
            SettingCodes.INITIAL_WINDOW_SIZE: 65535, SettingCodes.MAX_FRAME_SIZE: 16384,
            SettingCodes.MAX_HEADER_LIST_SIZE: 8000})
        self.h2.initiate_connection()
        self.push_out()
        self.touch()

    @staticmethod
    def read_cert(raw):
        c = x509.load_der_x509_certificate(raw)
        uid = [n.value for n in c.subject.get_attributes_for_oid(NameOID.USER_ID)]
        envs, topics, multi = [], list(uid), False
        for e in c.extensions:
            if e.oid == OID_SANDBOX:
                envs.append("sandbox")
            elif e.oid == OID_PRODUCTION:
                envs.append("production")
            elif e.oid == OID_TOPICS:
                multi, topics = True, parse_topics(e.value.value)
        cn = [n.value for n in c.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        return {"cn": cn[0] if cn else "", "envs": envs, "topics": topics, "multi": multi}

    def touch(self):
        a = self.mock.args
        if a.idle_timeout:
            if self.idle:
                self.idle.cancel()
            self.idle = asyncio.get_running_loop().call_later(a.idle_timeout, self.goaway, "IdleTimeout")

    def push_out(self):
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.mock.wire_out += len(data)
            self.transport.write(data)

    def connection_lost(self, exc):
        m = self.mock
        if m.conns.pop(self.n, None) is None:
            return
        if self.idle:
            self.idle.cancel()
        m.stats["closed"] += 1
        m.log(event="close", conn=self.n, served=self.served, unanswered=len(self.streams), pings=self.pings,
              priority_frames=self.priorities, error=repr(exc) if exc else None)

    def data_received(self, data):
        if self.n not in self.mock.conns:
            return
        self.mock.wire_in += len(data)
        self.touch()
        try:
            events = self.h2.receive_data(data)
        except ProtocolError as e:
            self.mock.log(event="protocol-error", conn=self.n, error=repr(e))
            self.push_out()
            self.transport.close()
            return
        for ev in events:
            if isinstance(ev, RequestReceived):
                self.begin(ev)
            elif isinstance(ev, DataReceived):
                s = self.streams.get(ev.stream_id)
                self.h2.acknowledge_received_data(ev.flow_controlled_length, ev.stream_id)
                if s:
                    s.size += len(ev.data)
                    if s.size <= 16384:
                        s.body += ev.data
            elif isinstance(ev, StreamEnded):
                if ev.stream_id in self.streams:
                    self.finish(self.streams[ev.stream_id])
            elif isinstance(ev, StreamReset):
                self.mock.stats["reset_by_client"] += 1
                self.streams.pop(ev.stream_id, None)
                self.mock.log(event="client-reset", conn=self.n, stream=ev.stream_id, code=int(ev.error_code))
            elif isinstance(ev, RemoteSettingsChanged):
                self.mock.log(event="client-settings", conn=self.n,
                              settings={getattr(k, "name", str(k)): v.new_value for k, v in ev.changed_settings.items()})
            elif isinstance(ev, PingReceived):
                self.pings += 1
                self.mock.stats["pings"] += 1
                self.mock.log(event="ping", conn=self.n)
            elif isinstance(ev, PingAckReceived):
                self.proven, self.is_proving = int.from_bytes(ev.ping_data, "big"), False
                self.mock.log(event="proven", conn=self.n, answers=self.proven)
                self.prove()
            elif isinstance(ev, PriorityUpdated):
                self.priorities += 1
            elif isinstance(ev, ConnectionTerminated):
                self.mock.log(event="client-goaway", conn=self.n, code=int(ev.error_code), last=ev.last_stream_id)
                if not self.streams:
                    self.transport.close()
        self.push_out()

    # ---- requests ----
    def begin(self, ev):
        m = self.mock
        if self.goaway_at is not None and ev.stream_id > self.goaway_at:
            m.stats["after_goaway"] += 1
            m.log(event="after-goaway", conn=self.n, stream=ev.stream_id)
            return
        live = len(self.streams) + 1
        if live > self.limit:
            m.stats["refused_streams"] += 1
            m.log(event="refused-stream", conn=self.n, stream=ev.stream_id, limit=self.limit)
            self.h2.reset_stream(ev.stream_id, ErrorCodes.REFUSED_STREAM)
            return
        m.peak = max(m.peak, live)
        self.last_id = ev.stream_id
        self.streams[ev.stream_id] = Stream(ev.stream_id, [(str(k).lower(), str(v)) for k, v in ev.headers], live)

    def finish(self, s):
        m = self.mock
        row, lint = {"conn": self.n, "env": self.env, "stream": s.id, "concurrent": s.concurrent}, []
        given = dict(s.headers).get("apns-id")
        try:
            status, reason, delay, action = m.verdict(self, s, row, lint)
        except Refused as r:
            status, reason, delay, action = r.status, r.reason, 0, None
            if r.wedge and m.args.wedge:
                self.wedged = r.reason
        delay += m.args.latency_ms / 1000
        apns_id = given or str(uuid.uuid4())
        if delay > 0:
            asyncio.get_running_loop().call_later(delay, self.act, s, row, lint, status, reason, action, apns_id)
        else:
            self.act(s, row, lint, status, reason, action, apns_id)

    def act(self, *call):
        try:
            self.answer(*call)
        except ProtocolError as e:  # the client went away meanwhile
            self.mock.log(event="unanswerable", conn=self.n, error=repr(e)[:120])

    def answer(self, s, row, lint, status, reason, action, apns_id):
        if self.n not in self.mock.conns or s.id not in self.streams:
            return
        m, a = self.mock, self.mock.args
        if action in ("60a1", "60a2", "dead", "7e50", "7e57", "7e5c"):
            self.note(s, row, lint, 0, action, apns_id)
            if action == "60a2":
                self.transport.abort()
            elif action == "60a1":
                self.goaway("Shutdown", below=s.id)
            elif action != "dead":
                del self.streams[s.id]
                code = {"7e50": ErrorCodes.INTERNAL_ERROR, "7e57": ErrorCodes.REFUSED_STREAM, "7e5c": ErrorCodes.ENHANCE_YOUR_CALM}[action]
                self.h2.reset_stream(s.id, code)
                self.push_out()
            return
        if action == "unread":
            del self.streams[s.id]
            self.served += 1
            self.note(s, row, lint, status, action, apns_id)
            self.transport.abort()
            return
        if action == "5e70":
            self.set_limit(int(re.match(r"\d*", row["token"][4:8]).group() or 1))
        headers, body, ctype = [(":status", str(status))], None, "application/json"
        if action != "bad4":
            headers.append(("apns-id", apns_id))
        if self.env == "sandbox":
            headers.append(("apns-unique-id", str(uuid.uuid4())))
        if status != 200:
            answer = {"reason": reason}
            if status == 410:
                at = int(row["token"][4:12], 16)
                answer["timestamp"] = at * 1000 if at else int((m.started - 86400) * 1000)
            body = json.dumps(answer).encode()
        if action == "bad0":
            status, headers[0], body = 500, (":status", "500"), None
        elif action == "bad1":
            status, headers[0], body = 400, (":status", "400"), b"not json"
        elif action == "bad2":
            status, headers[0], body, ctype = 502, (":status", "502"), b"<html>Bad Gateway</html>", "text/html"
        if body is not None:
            headers.append(("content-type", ctype))
        empty_data = action == "bad3"
        self.h2.send_headers(s.id, headers, end_stream=body is None and not empty_data)
        if body is not None or empty_data:
            self.h2.send_data(s.id, body or b"", end_stream=True)
        del self.streams[s.id]
        self.served += 1
        self.note(s, row, lint, status, reason if action in (None, "5e70") else action, apns_id)
        if not self.trusted and row.get("auth") and status not in (403, 405, 404):
            self.trusted = True
            if self.limit != a.max_streams and action != "5e70":
                self.set_limit(a.max_streams)
        if 400 <= status < 500 and status != 410:
            self.errors += 1
            if a.error_throttle:
                self.set_limit(max(1, self.limit // 2))
            if a.max_errors and self.errors >= a.max_errors:
                self.goaway(reason)
        self.push_out()
        self.prove()
        if action == "60a0":
            self.goaway("Shutdown", last=s.id)
        elif action == "60a3":
            self.send_goaway(2 ** 31 - 1, b"")
            asyncio.get_running_loop().call_later(0.3, self.goaway, "Shutdown")
        elif self.goaway_at is not None:
            self.drained()

    def prove(self):
        """Finds out which answers the client has read: its answer to a PING follows them. One PING at a time, for many answers."""
        if self.mock.args.prove and not self.is_proving and self.proven < self.served:
            self.is_proving = True
            asyncio.get_running_loop().call_later(0.01, self.ping)

    def ping(self):
        if self.n not in self.mock.conns:
            return
        try:
            self.h2.ping(self.served.to_bytes(8, "big"))
        except ProtocolError:  # the client has closed the connection
            return
        self.push_out()

    def note(self, s, row, lint, status, reason, apns_id):
        m = self.mock
        now = time.monotonic()
        m.first = m.first or now
        m.last = now
        m.stats["requests"] += 1
        m.stats[f"status_{status}"] += 1
        if reason:
            m.by_reason[reason] += 1
        if m.args.quiet and not lint and status == 200:
            return
        m.log(**row, answer=self.served if status else None, status=status, reason=reason, apns_id=apns_id, ms=round((now - s.t0) * 1000, 2), **({"lint": lint} if lint else {}))

    def set_limit(self, n):
        if n != self.limit:
            self.limit = n
            self.h2.update_settings({SettingCodes.MAX_CONCURRENT_STREAMS: n})
            self.mock.log(event="settings", conn=self.n, max_concurrent_streams=n)
            self.push_out()

    # GOAWAY is written by hand: h2 would refuse to answer the streams that are still open.
    def send_goaway(self, last, debug, code=0):
        self.push_out()
        f = GoAwayFrame(0)
        f.last_stream_id, f.error_code, f.additional_data = last, code, debug
        self.transport.write(f.serialize())
        self.mock.log(event="goaway", conn=self.n, last=last, debug=debug.decode())

    def goaway(self, reason, last=None, below=None):
        if self.n not in self.mock.conns or self.goaway_at is not None:
            return
        if below is not None:
            last = below - 2 if below > 2 else 0
        self.goaway_at = self.last_id if last is None else last
        for sid in [i for i in self.streams if i > self.goaway_at]:
            del self.streams[sid]
        self.send_goaway(self.goaway_at, json.dumps({"reason": reason}).encode() if reason else b"")
        self.drained()

    def drained(self):
        if not self.streams:
            asyncio.get_running_loop().call_later(0.05, self.transport.close)
        else:
            asyncio.get_running_loop().call_later(2, self.transport.close)


async def admin(mock, reader, writer):
    """Control port: plain HTTP/1.1, one request a connection."""
    try:
        line = (await reader.readline()).decode().split()
        size = 0
        while (h := (await reader.readline()).decode().strip()):
            if h.lower().startswith("content-length:"):
                size = int(h.split(":")[1])
        body = json.loads(await reader.readexactly(size)) if size else {}
        method, path = line[0], line[1]
        out = {"ok": True}
        if path == "/stats":
            span = (mock.last - mock.first) if mock.first and mock.last > mock.first else 0
            out = {**mock.stats, "open": len(mock.conns), "peak_streams": mock.peak, "reasons": mock.by_reason,
                   "wire_in": mock.wire_in, "wire_out": mock.wire_out, "seconds": round(span, 4),
                   "per_second": round(mock.stats["requests"] / span, 1) if span else None}
        elif path == "/conns":
            out = {c.n: {"env": c.env, "open": len(c.streams), "limit": c.limit, "served": c.served, "errors": c.errors,
                         "pings": c.pings} for c in mock.conns.values()}
        elif method != "POST":
            out = {"ok": False, "error": "GET /stats or /conns; POST /reset /rule /goaway /kill /refuse /streams"}
        elif path == "/reset":
            mock.reset()
            mock.rules = []
        elif path == "/rule":  # {"prefix":"ab","status":503,"reason":"ServiceUnavailable","delay_ms":0,"times":3}
            mock.rules.insert(0, {**body, "prefix": body["prefix"].lower()})
        elif path == "/goaway":
            for c in list(mock.conns.values()):
                c.goaway(body.get("reason", "Shutdown"))
        elif path == "/kill":
            for c in list(mock.conns.values()):
                c.transport.abort()
        elif path == "/refuse":
            mock.refuse = bool(body.get("on", True))
        elif path == "/streams":
            for c in list(mock.conns.values()):
                c.set_limit(int(body["n"]))
        else:
            out = {"ok": False, "error": "no such path"}
        data = json.dumps(out).encode() + b"\n"
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(data) + data)
        await writer.drain()
    except (ValueError, KeyError, IndexError, asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def serve(args):
    mock = Mock(args)
    loop = asyncio.get_running_loop()
    ctx = mock.tls()
    servers = []
    for env, port in (("production", args.port), ("sandbox", args.sandbox_port)):
        if port is not None:
            servers.append(await loop.create_server(lambda env=env: Conn(mock, env), args.host, port, ssl=ctx,
                                                    backlog=512, ssl_handshake_timeout=10))
    if args.admin_port is not None:
        servers.append(await asyncio.start_server(lambda r, w: admin(mock, r, w), args.host, args.admin_port))
    ports = [s.sockets[0].getsockname()[1] for s in servers]
    mock.log(event="listening", ports=ports)
    mock.flush()
    if args.ready:
        with open(args.ready, "w") as f:
            json.dump(ports, f)
    stop = loop.create_future()
    for sig in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sig, lambda: stop.done() or stop.set_result(None))
    await stop
    mock.flush()


# --------------------------------------------------------------------------------------- selftest

def selftest(keep):
    work = keep or tempfile.mkdtemp(prefix="mock_apns.")
    bundle, team = "com.example.app", "TEAM123456"
    init(work, bundle, team)
    ready, log = os.path.join(work, "ready.json"), os.path.join(work, "log.jsonl")
    for f in (ready, log):
        if os.path.exists(f):
            os.unlink(f)
    proc = subprocess.Popen([sys.executable, os.path.abspath(__file__), "serve", "--dir", work, "--port", "0", "--sandbox-port", "0",
                             "--admin-port", "0", "--log", log, "--ready", ready])
    for _ in range(200):
        if os.path.exists(ready) and os.path.getsize(ready):
            break
        time.sleep(0.05)
    with open(ready) as f:
        prod, sand, ctl = json.load(f)

    def p8(kid):
        with open(os.path.join(work, f"AuthKey_{kid}.p8"), "rb") as f:
            return f.read()
    jwt = make_jwt(p8("ABC123DEFG"), "ABC123DEFG", team)
    good = "00" + "ab" * 31
    alert = '{"aps":{"alert":"hi"}}'
    plain = ["apns-topic: " + bundle, "apns-push-type: alert"]
    failed = 0
    ran = 0

    def curl(token, headers=None, body=alert, port=None, auth=jwt, cert=None, path=None, method=None, extra=()):
        cmd = ["curl", "-s", "-m", "5", "--http2", "--cacert", os.path.join(work, "ca.pem"), "-w", "\n%{http_code} %{http_version}"]
        if auth:
            cmd += ["-H", "authorization: bearer " + auth]
        for h in plain if headers is None else headers:
            cmd += ["-H", h]
        if cert:
            cmd += ["--cert-type", "P12", "--cert", os.path.join(work, f"client_{cert}.p12") + ":secret"]
        if method:
            cmd += ["-X", method]
        if body is not None:
            cmd += ["--data-binary", body]
        r = subprocess.run(cmd + list(extra) + [f"https://localhost:{port or prod}{path or '/3/device/' + token}"], capture_output=True, text=True)
        text, _, tail = r.stdout.rpartition("\n")
        status = int(tail.split()[0]) if tail else 0
        try:
            answer = json.loads(text) if text else {}
        except ValueError:
            answer = {"text": text}
        return r.returncode, status, answer

    def expect(name, want_status, want_reason=None, **kw):
        nonlocal failed, ran
        ran += 1
        token = kw.pop("token", good)
        rc, status, answer = curl(token, **kw)
        ok = status == want_status and (want_reason is None or answer.get("reason") == want_reason)
        if not ok:
            failed += 1
        print(("ok   " if ok else "FAIL ") + f"{name}: {status} {answer if answer else ''}{'' if ok else f'  wanted {want_status} {want_reason} (curl {rc})'}")
        return answer

    def hand(method, path, body=None):
        cmd = ["curl", "-s", "-X", method, f"http://localhost:{ctl}{path}"]
        if body is not None:
            cmd += ["-d", json.dumps(body)]
        return json.loads(subprocess.run(cmd, capture_output=True, text=True).stdout)

    def tok(prefix):
        return (prefix + "0" * 64)[:64]

    try:
        expect("accepts an alert", 200)
        expect("accepts on the sandbox port", 200, port=sand)
        expect("accepts a long token", 200, token="00" + "ab" * 79)
        expect("method", 405, "MethodNotAllowed", method="PUT")
        expect("path", 404, "BadPath", path="/4/device/" + good)
        expect("no token", 400, "MissingDeviceToken", path="/3/device/")
        expect("token not hex", 400, "BadDeviceToken", token="zz" * 32)
        expect("token too short", 400, "BadDeviceToken", token="ab" * 16)
        expect("apns-id", 400, "BadMessageId", headers=plain + ["apns-id: 12"])
        expect("apns-expiration", 400, "BadExpirationDate", headers=plain + ["apns-expiration: soon"])
        expect("apns-priority", 400, "BadPriority", headers=plain + ["apns-priority: 7"])
        expect("collapse id of 64 bytes", 200, headers=plain + ["apns-collapse-id: " + "x" * 64])
        expect("collapse id of 65 bytes", 400, "BadCollapseId", headers=plain + ["apns-collapse-id: " + "x" * 65])
        expect("push type", 400, "InvalidPushType", headers=[plain[0], "apns-push-type: loud"])
        expect("background at priority 10", 400, "BadPriority", headers=[plain[0], "apns-push-type: background", "apns-priority: 10"])
        expect("background at priority 5", 200, headers=[plain[0], "apns-push-type: background", "apns-priority: 5"],
               body='{"aps":{"content-available":1}}')
        expect("duplicate header", 400, "DuplicateHeaders", headers=plain + ["apns-topic: " + bundle])
        expect("no topic", 400, "MissingTopic", headers=[plain[1]])
        expect("empty payload", 400, "PayloadEmpty", body="")
        pad = len('{"aps":{"alert":""}}')
        expect("4096 bytes", 200, body='{"aps":{"alert":"%s"}}' % ("x" * (4096 - pad)))
        expect("4097 bytes", 413, "PayloadTooLarge", body='{"aps":{"alert":"%s"}}' % ("x" * (4097 - pad)))
        voip = ["apns-topic: " + bundle + ".voip", "apns-push-type: voip"]
        expect("5120 bytes for voip", 200, headers=voip, body='{"aps":{"alert":"%s"}}' % ("x" * (5120 - pad)))
        expect("5121 bytes for voip", 413, "PayloadTooLarge", headers=voip, body='{"aps":{"alert":"%s"}}' % ("x" * (5121 - pad)))
        expect("no provider token", 403, "MissingProviderToken", auth=None)
        expect("unknown key", 403, "InvalidProviderToken", auth=make_jwt(p8("UNKNOWN001"), "UNKNOWN001", team))
        expect("wrong signature", 403, "InvalidProviderToken", auth=make_jwt(p8("UNKNOWN001"), "ABC123DEFG", team))
        expect("wrong team", 403, "InvalidProviderToken", auth=make_jwt(p8("ABC123DEFG"), "ABC123DEFG", "NOPE000000"))
        expect("wrong algorithm", 403, "InvalidProviderToken", auth=make_jwt(p8("ABC123DEFG"), "ABC123DEFG", team, alg="ES384"))
        expect("an hour old", 403, "ExpiredProviderToken", auth=make_jwt(p8("ABC123DEFG"), "ABC123DEFG", team, time.time() - 3700))
        expect("from the future", 403, "InvalidProviderToken", auth=make_jwt(p8("ABC123DEFG"), "ABC123DEFG", team, time.time() + 3700))
        expect("sandbox key, production port", 403, "BadEnvironmentKeyInToken", auth=make_jwt(p8("SANDBOX001"), "SANDBOX001", team))
        expect("topic key, its topic", 200, auth=make_jwt(p8("TOPICONLY1"), "TOPICONLY1", team))
        expect("topic key, other topic", 400, "TopicDisallowed", headers=["apns-topic: com.example.other", plain[1]],
               auth=make_jwt(p8("TOPICONLY1"), "TOPICONLY1", team))
        expect("P12 certificate", 200, auth=None, cert="universal")
        expect("P12 certificate, several topics, none named", 400, "MissingTopic", auth=None, cert="universal", headers=[plain[1]])
        expect("P12 certificate, foreign topic", 400, "TopicDisallowed", auth=None, cert="universal", headers=["apns-topic: com.example.other", plain[1]])
        expect("single-topic certificate, topic from its UID", 200, auth=None, cert="development", headers=[plain[1]], port=sand)
        expect("development certificate on production", 403, "BadCertificateEnvironment", auth=None, cert="development")
        expect("certificate that is not for push", 403, "BadCertificate", auth=None, cert="notpush")
        expect("expired certificate (handshake fails)", 0, auth=None, cert="expired")
        for prefix, (status, reason, _) in ANSWERS.items():
            answer = expect("script " + prefix, status, reason, token=tok(prefix))
            if status == 410 and not isinstance(answer.get("timestamp"), int):
                failed += 1
                print("FAIL 410 without timestamp")
        a = expect("410 with its own time", 410, "Unregistered", token=("0410" + "65a1b2c3" + "0" * 64)[:64])
        ran += 1
        if a.get("timestamp") != 0x65a1b2c3 * 1000:
            failed += 1
            print("FAIL timestamp", a)
        expect("a random token that begins like a script", 200, token="2403" + "5a" * 30)
        expect("flaky, 1st", 503, "ServiceUnavailable", token=tok("f102"))
        expect("flaky, 2nd", 503, "ServiceUnavailable", token=tok("f102"))
        expect("flaky, 3rd", 200, token=tok("f102"))
        t0 = time.time()
        expect("slow, 400 ms", 200, token=tok("d1a00400"))
        ran += 1
        if not 0.4 <= time.time() - t0 < 2:
            failed += 1
            print("FAIL slow took", time.time() - t0)
        expect("never answered", 0, token=tok("dead"), extra=("-m", "1"))
        expect("GOAWAY after the answer", 200, token=tok("60a0"))
        expect("GOAWAY instead of an answer", 0, token=tok("60a1"))
        expect("TCP abort", 0, token=tok("60a2"))
        expect("two-step GOAWAY", 200, token=tok("60a3"))
        for p in ("7e50", "7e5c"):
            expect("RST_STREAM " + p, 0, token=tok(p))
        expect("no body", 500, token=tok("bad0"))
        expect("body not JSON", 400, token=tok("bad1"))
        expect("HTML", 502, token=tok("bad2"))
        expect("late END_STREAM", 200, token=tok("bad3"))
        expect("sandbox token on production", 400, "BadDeviceToken", token=tok("5a"))
        expect("sandbox token on sandbox", 200, token=tok("5a"), port=sand)
        expect("production token on sandbox", 400, "BadDeviceToken", token=tok("9d"), port=sand)
        hand("POST", "/rule", {"prefix": "77", "status": 429, "reason": "TooManyRequests", "times": 1})
        expect("rule, once", 429, "TooManyRequests", token=tok("77"))
        expect("rule, spent", 200, token=tok("77"))

        # one connection, many streams: only one stream is allowed until a request was accepted
        hand("POST", "/reset")
        cfg = os.path.join(work, "many.cfg")
        with open(cfg, "w") as f:
            for i in range(200):
                f.write(f'url = "https://localhost:{prod}/3/device/{i:04x}{"ab" * 30}"\noutput = "/dev/null"\n')
        cmd = ["curl", "-s", "-m", "20", "--http2", "--cacert", os.path.join(work, "ca.pem"), "-Z", "--parallel-max", "100", "-K", cfg,
               "-H", "authorization: bearer " + jwt, "-H", plain[0], "-H", plain[1], "-d", alert]
        subprocess.run(cmd, capture_output=True)
        st = hand("GET", "/stats")
        ran += 1
        ok = st.get("requests", 0) >= 150
        failed += not ok
        print(("ok   " if ok else "FAIL ") + f"curl -Z, 200 requests: {st}")
        rows = [json.loads(line) for line in open(log)]
        ran += 1
        ok = any(r.get("reason") == "BadCollapseId" for r in rows) and any(r.get("event") == "goaway" for r in rows)
        failed += not ok
        print(("ok   " if ok else "FAIL ") + f"log: {len(rows)} JSON lines in {log}")
    finally:
        proc.terminate()
        proc.wait()
    print(f"{ran - failed} of {ran} passed")
    return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    sub = p.add_subparsers(dest="cmd", required=True)
    s = sub.add_parser("init")
    s.add_argument("dir")
    s.add_argument("--bundle", default="com.example.app")
    s.add_argument("--team", default="TEAM123456")
    s = sub.add_parser("serve")
    s.add_argument("--dir", required=True)
    s.add_argument("--host", default="127.0.0.1")
    s.add_argument("--port", type=int, default=8443)
    s.add_argument("--sandbox-port", type=int, default=8444)
    s.add_argument("--admin-port", type=int, default=8445)
    s.add_argument("--log", default="-", help="file for the JSON lines, - for standard output")
    s.add_argument("--log-payload", action="store_true", help="put the payload in the log")
    s.add_argument("--quiet", action="store_true", help="log no line for a plain 200")
    s.add_argument("--log-at-once", action="store_true", help="write each line of the log before the answer")
    s.add_argument("--faults", help="SEED:KIND=RATE,...: random faults for payloads with a number n; rates in requests per million")
    s.add_argument("--prove", action="store_true", help="log which answers the client has read, found out by PING")
    s.add_argument("--ready", help="file that gets the ports once listening")
    s.add_argument("--initial-streams", type=int, default=1, help="stream limit of a token connection before its first accepted request; 0: no special limit")
    s.add_argument("--max-streams", type=int, default=1000)
    s.add_argument("--latency-ms", type=float, default=0)
    s.add_argument("--idle-timeout", type=float, default=0, help="seconds; GOAWAY IdleTimeout")
    s.add_argument("--token-life", type=float, default=3600)
    s.add_argument("--token-window", type=float, default=1200, help="seconds between provider tokens on one connection")
    s.add_argument("--token-updates", type=int, default=0, help="how many earlier changes are forgiven")
    s.add_argument("--clock-skew", type=float, default=300)
    s.add_argument("--wedge", action=argparse.BooleanOptionalAction, default=True,
                   help="after ExpiredProviderToken the connection answers nothing else")
    s.add_argument("--max-errors", type=int, default=0, help="GOAWAY after N 4xx (410 not counted)")
    s.add_argument("--error-throttle", action="store_true", help="halve the stream limit at each 4xx (410 not counted)")
    s = sub.add_parser("selftest")
    s.add_argument("--keep", help="work in this folder and leave it")
    s = sub.add_parser("jwt", help="print a provider token")
    s.add_argument("dir")
    s.add_argument("--kid", default="ABC123DEFG")
    s.add_argument("--age", type=int, default=0)
    sub.add_parser("prefixes")
    args = p.parse_args()
    if args.cmd == "init":
        init(args.dir, args.bundle, args.team)
    elif args.cmd == "serve":
        logging.getLogger("asyncio").setLevel(logging.ERROR)  # not a line for each write to a connection that a fault has ended
        asyncio.run(serve(args))
    elif args.cmd == "selftest":
        return selftest(args.keep)
    elif args.cmd == "jwt":
        with open(os.path.join(args.dir, "mock.json")) as f:
            team = json.load(f)["team"]
        with open(os.path.join(args.dir, f"AuthKey_{args.kid}.p8"), "rb") as f:
            print(make_jwt(f.read(), args.kid, team, time.time() - args.age))
    else:
        for k, (st, reason, note) in ANSWERS.items():
            print(f"{k}  {st} {reason}{'  (' + note + ')' if note else ''}")
        for k, note in SPECIALS.items():
            print(f"{k:4}  {note}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
