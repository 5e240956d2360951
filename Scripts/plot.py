"""Plots latency against load (SVG), as `ccs-bench down --curve --json` and `ccs-compare --curve --json` measure it:

  ccs-bench down --curve --json | .venv-plot/bin/python Scripts/plot.py PICTURE.svg

Scripts/bootstrap --plot installs what it needs.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def lines(measured):
    """Returns the name, the results and the drawn percentile of each line."""
    if "open_loop" in measured:
        return [(name, measured["open_loop"], key) for name, key in [("p50", "p50_us"), ("p99", "p99_us"), ("p99.9", "p999_us")]]
    return [(f"{curve['name']} p99", curve["open_loop"], "p99_us") for curve in measured["curves"]]


def main(picture):
    figure, axes = plt.subplots(figsize=(9, 5), constrained_layout=True)
    for name, results, key in lines(json.load(sys.stdin)):
        rates = [result["messages_per_second"] for result in results]
        axes.plot(rates, [result["answer"][key] / 1_000 for result in results], marker=".", label=name)
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("messages per second, open loop")
    axes.set_ylabel("milliseconds from due to acknowledged")
    axes.grid(color="#ddd")
    axes.legend(frameon=False)
    figure.savefig(picture, metadata={"Date": None})


main(*sys.argv[1:2])
