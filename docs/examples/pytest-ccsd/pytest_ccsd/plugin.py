"""The fixtures. Each worker of pytest-xdist is a process of its own, and so gets a ccsd of its own."""
import pytest

from .child import ccsd_hostmap
from .server import Server


@pytest.fixture(scope="session")
def ccsd(tmp_path_factory):
    """A ccsd with a sender, for the whole run. Until its end Google's host names lead to it, and its CA is trusted for them."""
    server = Server(tmp_path_factory.mktemp("ccsd"))
    try:
        server.start()
        with ccsd_hostmap.installed(server.host_ports, server.ca):
            yield server
    finally:
        server.stop()


@pytest.fixture
def ccsd_device(ccsd):
    """A virtual device of the sender, removed after the test."""
    device = ccsd.device()
    yield device
    device.remove()
