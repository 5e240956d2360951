"""Hooks of Schemathesis that generate bodies that are neither JSON nor forms."""
import schemathesis
from hypothesis import strategies as st

BOUNDARY = "ccs-part"

binary = st.binary(max_size=300)
# Check-ins of a new device with different sets of fields.
check_in = st.sampled_from([b"\x22\x00\x70\x03", b"\x22\x00", b"\x10\x01\x22\x00\x69" + bytes(8)])
for name in ("application/x-protobuf", "application/x-protobuffer"):
    schemathesis.openapi.media_type(name, st.one_of(check_in, binary))
schemathesis.openapi.media_type("application/octet-stream", binary)

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
