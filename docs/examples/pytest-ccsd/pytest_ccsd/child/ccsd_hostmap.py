"""Leads the host names of Google's services to a ccsd on this machine, for unmodified clients in this process.

A name resolves to an address of loopback that nothing else uses, and a connection to that address goes to ccsd. So the port is still
known where a client resolves the name by itself and connects to the address, as httpx and anyio do. Not for clients with a resolver or
TLS of their own: grpc, uvloop, aiodns, pyOpenSSL.
"""
import contextlib
import os
import socket
import ssl

# Google's hosts that ccsd serves, without those that it does not, such as storage.googleapis.com.
NAMES = frozenset(
    [f"{name}.googleapis.com" for name in (
        "android", "device-provisioning", "fcm", "fcm-xmpp", "fcmregistrations", "fcmtoken", "firebaseinstallations", "gcm",
        "gcm-http", "gcm-preprod", "gcm-staging", "gcm-xmpp", "iamcredentials", "iid", "oauth2", "www")]
    + [f"{name}.google.com" for name in ("accounts", "alt1-mtalk", "android.clients", "jmt17", "mtalk", "mtalk4")])
PLACE = "127.67.67.83"  # the letters CCS
HERE = "127.0.0.1"
_kept = contextlib.ExitStack()  # what lasts as long as the process


def is_mapped(host):
    """Whether a host is one of Google's that ccsd serves."""
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    return isinstance(host, str) and host.rstrip(".").lower() in NAMES


@contextlib.contextmanager
def installed(ports, ca=None):
    """Maps names and ports (`{443: 8443}`), and trusts the CA for those names, until the end of the block."""
    find, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex
    wrap_socket, wrap_bio = ssl.SSLContext.wrap_socket, ssl.SSLContext.wrap_bio

    def found(host, *rest, **options):
        return find(PLACE if is_mapped(host) else host, *rest, **options)

    def target(address):
        if isinstance(address, tuple) and len(address) >= 2 and (address[0] == PLACE or is_mapped(address[0])):
            return HERE, ports.get(address[1], address[1])
        return address

    # Contexts are often made before ccsd has a CA, such as at the import of aiohttp: the CA is added where one is used.
    def trusted_socket(self, sock, *rest, server_hostname=None, **options):
        if ca and is_mapped(server_hostname):
            self.load_verify_locations(ca)
        return wrap_socket(self, sock, *rest, server_hostname=server_hostname, **options)

    def trusted_bio(self, incoming, outgoing, server_side=False, server_hostname=None, session=None):
        if ca and is_mapped(server_hostname):
            self.load_verify_locations(ca)
        return wrap_bio(self, incoming, outgoing, server_side, server_hostname, session)

    with contextlib.ExitStack() as undo:
        for owner, name, new in (
            (socket, "getaddrinfo", found),
            (socket.socket, "connect", lambda self, address: connect(self, target(address))),
            (socket.socket, "connect_ex", lambda self, address: connect_ex(self, target(address))),
            (ssl.SSLContext, "wrap_socket", trusted_socket),
            (ssl.SSLContext, "wrap_bio", trusted_bio),
        ):
            undo.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, new)
        undo.enter_context(_without_proxy())
        yield


@contextlib.contextmanager
def _without_proxy():
    """A proxy resolves names itself, so it gets none of these."""
    old = {name: os.environ.get(name) for name in ("NO_PROXY", "no_proxy")}
    for name, value in old.items():
        os.environ[name] = ",".join(filter(None, [value, *sorted(NAMES)]))
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def environment(ports, ca):
    """Returns the environment of this process with the map for a Python process that is started with it."""
    folder = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    pairs = ",".join(f"{port}:{here}" for port, here in ports.items())
    return {**os.environ, "PYTHONPATH": path, "CCS_HOST_PORTS": pairs, "CCS_HOST_CA": ca}


def install_from_environment():
    """Maps what `environment` has set, for the life of this process."""
    pairs = os.environ.get("CCS_HOST_PORTS")
    if pairs:
        ports = {int(port): int(here) for port, here in (pair.split(":") for pair in pairs.split(","))}
        _kept.enter_context(installed(ports, os.environ.get("CCS_HOST_CA")))
