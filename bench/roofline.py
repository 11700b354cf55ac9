#!/usr/bin/env python3
"""Draws bench/results/roofline[-KIND].png from the newest result of every kind.

Above: how far every program is from what moving its bytes must cost. Below: bytes
moved against time, over the line of the best copy of the same run. Pages show the
picture about 800 pixels wide, so it is 8 inches wide and its letters have 8 points.
"""

import argparse
import json
import pathlib
import re

try:
    import matplotlib
except ImportError:
    print("roofline.py: no matplotlib, so no picture: pip install matplotlib")
    raise SystemExit(0)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
COLORS = {
    "gather v4_584": "#1f5fa8",
    "gather seed_580": "#2a9d8f",
    "gather v41_fp4_288": "#e9a23b",
    "dequantize nvfp4": "#c8553d",
    "append v4_584": "#6f9fd8",
    "append seed_580": "#7cc9c0",
    "append_in_order v4_584": "#3f6fb0",
    "append_in_order seed_580": "#4aa79c",
    "append_scattered v4_584": "#a9c6ec",
    "append_scattered seed_580": "#b5e0db",
    "append_chain v4_584": "#0b2f57",
    "append_chain seed_580": "#12574f",
    "quantize nvfp4": "#e79c8b",
    "quantize fp8_ue8m0": "#8a5aa8",
    "compress_csa v4_584": "#4b7f2a",
    "compress_hca v4_584": "#86b34d",
    "compress_index index_mxfp4_68": "#b8a13a",
    "compress_decode v4_584": "#a0526d",
    "compress_decode_state v4_584": "#c98aa3",
    "compress_hca_online v4_584": "#5d4a8a",
    "compress_hca_online_chunks v4_584": "#8474b3",
    "compress_hca_online_decode v4_584": "#b3a8d4",
    "topk_1 k512": "#7a1f1f",
    "topk_16 k512": "#a34a2f",
    "topk_64 k512": "#c46b45",
    "topk_64 k2048": "#d98f66",
    "topk_256 k512": "#8f6b4a",
    "topk_256 k2048": "#b39272",
}
# A result of some rows has their kind after the date.
NAME = re.compile(r"-\d{4}-\d\d-\d\d(?:-(\w+))?$")
# As many bytes as the rows of random scores.
HARD = re.compile(r"topk_\d+_")
PEERS = {"triton": "s", "torch.compile": "^", "eager": "v"}
# Whose bars there are, from above; those of dsv4 have the colour of their program.
SHADES = {
    "copy": "#efe7d5",
    "dsv4": None,
    "triton": "#8a8a8a",
    "torch.compile": "#b5b5b5",
    "eager": "#d9d9d9",
}
NAMES = {
    "triton": "Triton",
    "torch.compile": "torch.compile",
    "eager": "torch, eager",
}
# What the size of a program counts, by the first word of its name.
UNITS = {
    "compress": "entries",
    "quantize": "rows",
    "dequantize": "rows",
    "topk": "elements per row",
}


def newest():
    """Of every kind, "" that of all rows, the newest result."""
    found = {}
    for path in RESULTS.glob("*.json"):
        name = NAME.search(path.stem)
        if not name:
            continue
        result = json.loads(path.read_text())
        kind = name[1] or ""
        if kind not in found or found[kind][1]["date"] < result["date"]:
            found[kind] = path, result
    if not found:
        raise SystemExit("roofline.py: no result in bench/results: run bench/run.py")
    return found


def gather_points(result):
    """(name, size, who, bytes, us) of the cold rows, dsv4's from the table."""
    points = []
    for row in result["dsv4"]["rows"]:
        if row["l2"] != "cold" or not row["from_table"] or HARD.match(row["what"]):
            continue
        key = (f"{row['what']} {row['layout']}", row["size"])
        points.append((*key, "dsv4", row["bytes"], row["us"]))
        points.append((*key, "copy", row["bytes"], row["same_copy_us"]))
        for peer in result["peers"].get("rows", []):
            name = f"{peer['what']} {peer['layout']}"
            if (name, peer["size"], peer["l2"]) == (*key, "cold"):
                points.append((*key, peer["peer"], row["bytes"], peer["us"]))
    return points


def find_largest(points):
    """Of every program, the rows of its largest size: {program: (size, {who: TB/s})}."""
    sizes = {}
    for program, size, *_ in points:
        sizes[program] = max(size, sizes.get(program, 0))
    return {
        program: (
            largest,
            {
                who: bytes_ / us * 1e-6
                for name, size, who, bytes_, us in points
                if (name, size) == (program, largest)
            },
        )
        for program, largest in sizes.items()
    }


def name_of(program):
    """What pages call a program."""
    what, layout = program.split(" ")
    rows = re.fullmatch(r"topk_(\d+)", what)
    if rows:
        return f"topk, {rows[1]} row{'s' * (rows[1] != '1')}, k = {layout[1:]}"
    return f"{what.replace('_', ' ')}, {layout}"


def describe(program, size):
    """A program and its size, in two lines."""
    unit = UNITS.get(program.split(" ")[0].split("_")[0], "tokens")
    return f"{name_of(program)}\n{size:,} {unit}"


def draw_bars(axes, largest, roof):
    """The bandwidth of the largest size of every program, one bar for whoever ran it."""
    at, ticks = 0, []
    for program, (size, found) in largest.items():
        bars = [who for who in SHADES if who in found]
        ticks.append((at + (len(bars) - 1) / 2, describe(program, size)))
        for who in bars:
            color = SHADES[who] or COLORS[program]
            axes.barh(at, found[who], 0.9, color=color, ec="#555", lw=0.4)
            bold = "bold" if who == "dsv4" else "normal"
            style = dict(va="center_baseline", fontsize=8, weight=bold)
            # The dashed line is below it.
            style["bbox"] = dict(fc="white", ec="none", pad=0.5)
            label = f"{found[who]:.2f} {NAMES.get(who, who)}"
            axes.text(found[who] + 0.04, at, label, **style)
            at += 1
        at += 0.8
    axes.axvline(roof, color="black", lw=1, ls="--")
    # Room for what stands beside the longest bar.
    axes.set_xlim(0, roof * 1.22)
    axes.set_ylim(at - 0.8 + 0.2, -1)
    axes.set_yticks(*zip(*ticks), fontsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("TB/s, bytes read and written")
    title = f"Bandwidth; the dashed line is the best copy of the run, {roof:.2f} TB/s"
    axes.set_title(title, fontsize=9, loc="left")


def draw_roof(axes, points, roof):
    """Time against bytes of all sizes."""
    sizes = sorted({bytes_ for *_, bytes_, _ in points})
    span = [sizes[0] / 2, sizes[-1] * 2]
    axes.plot(span, [b / roof * 1e-6 for b in span], "k--", lw=1, label="best copy")
    for program, color in COLORS.items():
        for who, marker in {"dsv4": "o", **PEERS}.items():
            chosen = sorted(
                (bytes_, us)
                for name, _, by, bytes_, us in points
                if name == program and by == who
            )
            if not chosen:
                continue
            style = (
                dict(ms=5, lw=1.4) if who == "dsv4" else dict(ms=4, lw=0, mfc="none")
            )
            label = name_of(program) if who == "dsv4" else None
            axes.plot(*zip(*chosen), marker=marker, color=color, label=label, **style)
    for who, marker in PEERS.items():
        if any(by == who for _, _, by, *_ in points):
            axes.plot([], [], marker, color="#777", mfc="none", ms=4, label=NAMES[who])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes read and written by a launch")
    axes.set_ylabel("µs per launch")
    axes.set_title("Time of all sizes; lines are dsv4", fontsize=9, loc="left")
    axes.grid(True, which="major", lw=0.3)
    below = dict(loc="upper center", bbox_to_anchor=(0.42, -0.16))
    longest = max(len(name_of(name)) for name, *_ in points)
    columns = 3 if longest < 28 else 2
    axes.legend(fontsize=8, ncol=columns, frameon=False, columnspacing=1, **below)


def draw(path, result, output):
    # Routers have none: instructions bound them, not bytes.
    points = [point for point in gather_points(result) if point[0] in COLORS]
    if not points:
        return
    roof = max(copy["tb_per_s"] for copy in result["dsv4"]["copies"])
    largest = find_largest(points)
    bars = sum(len(found) for _, found in largest.values()) + 0.8 * len(largest)
    entries = len(largest) + 4
    heights = (0.17 * bars + 0.3, 3.2)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(8, sum(heights) + 1.6 + 0.07 * entries), height_ratios=heights
    )
    draw_bars(top, largest, roof)
    draw_roof(bottom, points, roof)
    device = result["dsv4"]["device"]["name"]
    figure.suptitle(
        f"{device}, {result['date'][:10]}, driver {result['driver']}, "
        f"dsv4 {result['commit'][:12]}\nNo launch finds its data in the L2 cache.",
        fontsize=9,
    )
    figure.tight_layout()
    figure.savefig(output, dpi=200, metadata={"Software": None})
    plt.close(figure)
    print(f"{output.name} from {path.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS)
    options = parser.parse_args()
    for kind, (path, result) in sorted(newest().items()):
        name = f"roofline-{kind}.png" if kind else "roofline.png"
        draw(path, result, options.output / name)


if __name__ == "__main__":
    main()
