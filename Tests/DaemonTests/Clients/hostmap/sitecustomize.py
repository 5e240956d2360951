"""On PYTHONPATH, this sends the names of Google's device services to the daemon under test; the client stays as it is."""
import os
import socket

_real = socket.getaddrinfo
_ports = {443: int(os.environ["CCS_HTTPS_PORT"]), 5228: int(os.environ["CCS_DEVICE_PORT"])}


def _redirected(host, port, *rest, **options):
    name = host.decode() if isinstance(host, bytes) else host
    if name and name.endswith((".google.com", ".googleapis.com")):
        return _real("127.0.0.1", _ports.get(int(port), int(port)), *rest, **options)
    return _real(host, port, *rest, **options)


socket.getaddrinfo = _redirected
