"""What the drivers share: they take commands as JSON lines on standard input and tell what they see as JSON lines."""
import json
import sys
import threading

_lock = threading.Lock()
# Kept, so that a driver may send elsewhere what its library prints.
_output = sys.stdout


def tell(event, **facts):
    """Prints one thing that happened."""
    with _lock:
        print(json.dumps({"event": event, **facts}), file=_output, flush=True)


def commands():
    """The commands, as they come; ends with standard input."""
    for line in sys.stdin:
        if line.strip():
            yield json.loads(line)


def payload_of(body):
    """The JSON of a message, or its text where it is none."""
    try:
        return json.loads(body)
    except ValueError:
        return {"unreadable": body}


def arguments():
    """PORT SENDER; the key is the first line of standard input, so that it is never an argument."""
    port, sender = int(sys.argv[1]), sys.argv[2]
    return port, sender, sys.stdin.readline().rstrip("\n")
