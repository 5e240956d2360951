"""Plots the samples of `ccs-bench soak`: python soak.py SAMPLES.json PICTURE.png"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main(source, picture):
    with open(source) as file:
        result = json.load(file)
    samples = result["samples"]
    if len(samples) < 2:
        sys.exit("soak: too few samples to plot")
    minutes = [sample["seconds"] / 60 for sample in samples]
    warm = minutes[-1] / 6

    def rate(direction):
        counts = [sample[direction]["delivered"] for sample in samples]
        times = [sample["seconds"] for sample in samples]
        return [
            (counts[at] - counts[at - 1]) / (times[at] - times[at - 1]) for at in range(1, len(samples))
        ]

    plt.rcParams.update({"font.size": 9, "axes.grid": True, "grid.color": "#ddd", "legend.frameon": False})
    figure, rows = plt.subplots(4, 1, figsize=(9, 10), sharex=True, constrained_layout=True)

    memory, latency, flow, rest = rows
    memory.plot(minutes, [sample["resident_kib"] / 1024 for sample in samples], color="#1f77b4")
    memory.set_ylabel("resident memory, MiB")
    memory.set_ylim(bottom=0)
    slope = (result.get("verdict") or {}).get("memory_kib_per_hour")
    if slope is not None:
        memory.set_title(f"{slope:+,.0f} KiB per hour after the warm-up (grey)", fontsize=9, loc="right")

    for direction, colour in (("downstream", "#1f77b4"), ("upstream", "#d62728")):
        for share, style in (("p50", "-"), ("p99", ":")):
            values = [max(sample[direction][f"arrival_{share}_us"], 1) / 1000 for sample in samples]
            latency.plot(minutes, values, style, color=colour, label=f"{direction} {share}", linewidth=1)
        flow.plot(minutes[1:], rate(direction), color=colour, label=direction, linewidth=1)
    latency.set_yscale("log")
    # Leaves room for the legend.
    latency.set_ylim(top=latency.get_ylim()[1] * 4)
    latency.set_ylabel("latency from due time, ms")
    latency.legend(ncols=4, loc="upper right")
    flow.set_ylabel("delivered per second")
    flow.set_ylim(bottom=0)
    flow.legend(ncols=2, loc="lower right")

    rest.plot(minutes, [sample["descriptors"] for sample in samples], color="#2ca02c", label="descriptors")
    rest.plot(minutes, [sample["devices"] for sample in samples], color="#9467bd", label="devices online")
    rest.plot(minutes, [sample["pending"] for sample in samples], color="#888", label="pending messages")
    rest.set_ylabel("count")
    rest.set_ylim(bottom=0)
    rest.set_xlabel("minutes")
    rest.legend(ncols=3, loc="lower right")

    for axes in rows:
        axes.axvspan(0, warm, color="#eee", zorder=0)
        axes.set_xlim(0, minutes[-1])
    figure.savefig(picture, dpi=110, metadata={"Software": None})


main(*sys.argv[1:3])
