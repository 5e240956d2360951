"""Random faults for mock_apns.py, chosen by a seed.

Each kind of fault has a rate in requests per million. The choice depends on the seed, the number in the payload (`n`) and the attempt,
so that one seed gives the same faults whatever the order of the requests.
"""
import random

MILLION = 1_000_000

# kind -> (status, reason, action): the actions of mock_apns.SPECIALS, and "unread": 200 is logged, and the TCP connection aborted
# before the answer is written
KINDS = {
    "unavailable": (503, "ServiceUnavailable", None),
    "internal": (500, "InternalServerError", None),
    "proxy": (200, None, "bad2"),
    "throttled": (429, "TooManyRequests", None),
    "shutdown": (503, "Shutdown", None),
    "too_large": (413, "PayloadTooLarge", None),
    "slow": (200, None, None),
    "silent": (200, None, "dead"),
    "reset": (200, None, "7e50"),
    "refused_stream": (200, None, "7e57"),
    "calm": (200, None, "7e5c"),
    "goaway": (200, None, "60a0"),
    "goaway_before": (200, None, "60a1"),
    "goaway_late": (200, None, "60a3"),
    "abort": (200, None, "60a2"),
    "unread": (200, None, "unread"),
}


class Faults:
    """The faults of one run: `text` is SEED:KIND=RATE,..."""

    def __init__(self, text):
        self.seed, rates = text.split(":", 1)
        self.rates = [(kind, int(rate)) for kind, rate in (part.split("=") for part in rates.split(",") if part)]
        unknown = [kind for kind, _ in self.rates if kind not in KINDS]
        if unknown:
            raise ValueError(f"unknown kinds of faults: {unknown}")

    def choose(self, number, attempt):
        """Returns the verdict for a request: status, reason, delay in seconds, action."""
        choice = random.Random(f"{self.seed}/{number}/{attempt}")
        at = choice.randrange(MILLION)
        for kind, rate in self.rates:
            at -= rate
            if at < 0:
                status, reason, action = KINDS[kind]
                return status, reason, choice.uniform(0.1, 2) if kind == "slow" else 0, action
        return 200, None, 0, None
