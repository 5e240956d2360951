"""Redirects the host names of Google's services to the daemon under test for unmodified clients; used by PYTHONPATH."""
import os
import socket

_getaddrinfo, _connect = socket.getaddrinfo, socket.socket.connect
_ports = {443: int(os.environ["CCS_HTTPS_PORT"]), 5228: int(os.environ["CCS_DEVICE_PORT"])}
_here = "127.0.0.1"


def _is_redirected(host):
    name = host.decode() if isinstance(host, bytes) else host
    return bool(name) and name.endswith((".google.com", ".googleapis.com"))


def _found(host, port, *rest, **options):
    if _is_redirected(host):
        return _getaddrinfo(_here, _ports.get(int(port), int(port)), *rest, **options)
    return _getaddrinfo(host, port, *rest, **options)


def _connected(self, address):
    """Redirects connections: some clients connect to the name, others to the resolved address with the original port."""
    if isinstance(address, tuple) and (address[0] == _here or _is_redirected(address[0])):
        address = (_here, _ports.get(address[1], address[1]))
    return _connect(self, address)


socket.getaddrinfo = _found
socket.socket.connect = _connected
