"""The interface that drivers share: commands and events as JSON lines on standard input and output."""
import json
import sys
import threading

_lock = threading.Lock()
# Kept, so that a driver can redirect the output of its library.
_output = sys.stdout


def emit(event, **facts):
    """Prints an event."""
    with _lock:
        print(json.dumps({"event": event, **facts}), file=_output, flush=True)


def commands():
    """Yields commands until the end of standard input."""
    for line in sys.stdin:
        if line.strip():
            yield json.loads(line)


def payload_of(body):
    """Returns the JSON of a message, or its text under "unreadable" if it is not JSON."""
    try:
        return json.loads(body)
    except ValueError:
        return {"unreadable": body}


def arguments():
    """Returns PORT and SENDER of the command line, and the key, which is read from standard input to keep it out of `ps`."""
    port, sender = int(sys.argv[1]), sys.argv[2]
    return port, sender, sys.stdin.readline().rstrip("\n")
