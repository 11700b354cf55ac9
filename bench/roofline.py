#!/usr/bin/env python3
"""Draws bench/results/roofline[-KIND].png from the newest result of every kind.

Left: how far every program is from what moving its bytes must cost. Right: bytes
moved against time, under the line of the best copy of the same run.
"""

import argparse
import json
import pathlib
import re
import textwrap

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


def draw_bars(axes, points, roof):
    """Share of the roof, for the largest size of every program."""
    largest = {}
    for program, size, *_ in points:
        largest[program] = max(size, largest.get(program, 0))
    names = ("eager", "torch.compile", "triton", "dsv4", "copy")
    shades = dict(zip(names, ("#d9d9d9", "#b5b5b5", "#8a8a8a", None, "#efe7d5")))
    for i, program in enumerate(largest):
        found = {
            who: bytes_ / us * 1e-6
            for name, size, who, bytes_, us in points
            if name == program and size == largest[program]
        }
        for j, who in enumerate(names):
            if who not in found:
                continue
            at, height = i + (j - 2) * 0.17, found[who]
            color = shades[who] or COLORS[program]
            axes.bar(at, height, 0.16, color=color, ec="#555", lw=0.4)
            style = dict(ha="center", fontsize=6.5)
            if height < roof / 3:
                label = f"{who} {height:.2f}"
                axes.text(at, height + 0.06, label, rotation=90, va="bottom", **style)
                continue
            style["color"] = "black" if who in ("copy", "torch.compile") else "white"
            axes.text(at, height - 0.06, f"{height:.2f}", va="top", **style)
            axes.text(at, 0.06, who, rotation=90, va="bottom", **style)
    axes.axhline(roof, color="black", lw=1, ls="--")
    axes.annotate(
        f"best copy of the run: {roof:.2f} TB/s",
        (0.01, roof + 0.06),
        xycoords=("axes fraction", "data"),
        fontsize=8,
    )
    axes.set_ylim(0, roof * 1.12)
    axes.set_xticks(range(len(largest)))
    units = {"compress": "entries", "quantize": "rows", "dequantize": "rows"}
    units |= {"topk": "elements per row"}
    unit = lambda program: units.get(re.split("[ _]", program)[0], "tokens")
    wrap = lambda text: "\n".join(textwrap.wrap(text, 13))
    labels = [
        "\n".join((wrap(what.replace("_", " ")), layout, wrap(f"{size:,} {unit(what)}")))
        for (what, layout), size in ((k.split(" "), v) for k, v in largest.items())
    ]
    axes.set_xticklabels(labels, fontsize=8)
    axes.set_ylabel("TB/s, bytes read plus written")
    axes.set_title("Bandwidth, nothing warm", fontsize=10)


def draw_roof(axes, points, roof):
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
                dict(ms=6, lw=1.4) if who == "dsv4" else dict(ms=4, lw=0, mfc="none")
            )
            label = program if who == "dsv4" else None
            axes.plot(*zip(*chosen), marker=marker, color=color, label=label, **style)
    for who, marker in PEERS.items():
        axes.plot([], [], marker, color="#777", mfc="none", ms=4, label=who)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes moved by a launch")
    axes.set_ylabel("microseconds a launch, graph replay")
    axes.set_title("Time against the roof, nothing warm", fontsize=10)
    axes.grid(True, which="major", lw=0.3)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))


def draw(path, result, output):
    # Routers have none: instructions bound them, not bytes.
    points = [point for point in gather_points(result) if point[0] in COLORS]
    if not points:
        return
    roof = max(copy["tb_per_s"] for copy in result["dsv4"]["copies"])
    programs = len({name for name, *_ in points})
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8 + 1.5 * programs, 5), width_ratios=(1.5 * programs, 8)
    )
    draw_bars(left, points, roof)
    draw_roof(right, points, roof)
    device = result["dsv4"]["device"]["name"]
    figure.suptitle(
        f"{device}, driver {result['driver']}, dsv4 {result['commit'][:12]}, "
        f"{result['date'][:10]}",
        fontsize=9,
    )
    figure.tight_layout()
    figure.savefig(output, dpi=140, metadata={"Software": None})
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
