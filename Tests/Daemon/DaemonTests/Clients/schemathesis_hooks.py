"""Hooks of Schemathesis that generate bodies that are neither JSON nor forms."""
import base64

import schemathesis
from hypothesis import strategies as st

BOUNDARY = "ccs-part"

binary = st.binary(max_size=300)
# Check-ins of a new device with different sets of fields.
check_in = st.sampled_from([b"\x22\x00\x70\x03", b"\x22\x00", b"\x10\x01\x22\x00\x69" + bytes(8)])
for name in ("application/x-protobuf", "application/x-protobuffer"):
    schemathesis.openapi.media_type(name, st.one_of(check_in, binary))
# Web pushes that a device could decrypt, by all that the server can check: a public key on the curve (RFC 8291, appendix A), and a record.
point = base64.urlsafe_b64decode("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8=")
push = st.binary(min_size=17, max_size=300).map(lambda record: bytes(16) + b"\0\0\x10\0\x41" + point + record)
schemathesis.openapi.media_type("application/octet-stream", st.one_of(push, push, binary))

head = st.sampled_from(["Content-ID: <a + 1>", "Content-ID: b", "Content-Type: application/http", ""])
line = st.sampled_from(["POST /v1/projects/p/messages:send HTTP/1.1", "GET / HTTP/1.1", "nonsense"])
body = st.sampled_from(['{"message":{"topic":"news"}}', "{", ""])
part = st.builds("--{b}\r\n{}\r\n\r\n{}\r\n\r\n{}\r\n".format, head, line, body, b=st.just(BOUNDARY))
parts = st.lists(part, max_size=3).map(lambda parts: "".join(parts) + f"--{BOUNDARY}--\r\n").map(str.encode)
schemathesis.openapi.media_type("multipart/mixed", st.one_of(parts, parts, binary))


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces the random boundary of Schemathesis by that of these bodies."""
    if case.media_type == "multipart/mixed" and isinstance(case.body, bytes):
        case.headers["Content-Type"] = f"multipart/mixed; boundary={BOUNDARY}"
