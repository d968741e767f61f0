"""Writes the table of whole loaders (rows py-*) into README.md, from the JSON that peers.py leaves.

usage: readme_table.py [--json FILE] [--readme FILE] [--check]

Replaced is what stands between the two marker lines; --check writes nothing and exits 1 if the README differs.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEGIN, END = "<!-- peers:begin (bench/peers/readme_table.py) -->", "<!-- peers:end -->"

# Name, and what it does with a picture.
SIDES = {
    "yoload": ("yoload", "mosaic pipeline, labels"),
    "ultralytics": ("Ultralytics", "mosaic pipeline, labels"),
    "torchvision": ("torch `DataLoader`, torchvision", "decode, letterbox"),
    "dali": ("DALI", "decode, letterbox, on the CPU"),
    "spdl": ("SPDL", "decode, letterbox"),
}


def spread(row: dict[str, Any], key: str) -> str:
    return f"{row[key]:.2f} ({row[f'{key}_min']:.2f} – {row[f'{key}_max']:.2f})"


def line(side: str, figures: dict[str, Any], ratio: str, cpu_ratio: str) -> str:
    name, work = SIDES[side]
    # yoload's version is the commit that the README lies in.
    version = "" if side == "yoload" else " " + figures["version"].split("+")[0]
    return (f"| {name}{version} | {work} | {figures['images_per_s']:.0f} | {ratio} | "
            f"{1000 * figures['cpu_s_per_image']:.1f} | {cpu_ratio} |")


def table(results: dict[str, Any]) -> str:
    rows = [row for row in results["rows"] if row["row"].startswith("py-")]
    if not rows:
        sys.exit("no row py-* in the results: run ./dev peers --only py-ultralytics ...")
    if len({(row["commit"], row["threads"], row["rounds"]) for row in rows}) != 1:
        sys.exit("the rows py-* are of several runs: measure them in one")
    # Fastest first, whoever that is.
    yoload = rows[0]["sides"]["yoload"]
    lines = [(yoload["images_per_s"], line("yoload", yoload, "", ""))]
    for row in rows:
        side = row["denominator"]
        figures = row["sides"][side]
        lines.append((figures["images_per_s"], line(side, figures, spread(row, "ratio"), spread(row, "cpu_ratio"))))
    lines.sort(key=lambda rated: -rated[0])
    machine = results["machine"]
    introduction = (
        f"Whole loaders driven from Python, the same photographs at 640, batch 16, {rows[0]['threads']} workers each, "
        f"{machine['cpus']} cores ({machine['model'] or machine['architecture']}); medians of {rows[0]['rounds']} "
        "interleaved rounds, ratios with minimum and maximum.\n"
        "Where a loader only decodes and letterboxes, the ratio sets yoload's whole pipeline against that.\n")
    head = ("| loader | per picture | images/s | yoload / this | CPU ms an image | yoload / this, images per CPU second |\n"
            "|---|---|---|---|---|---|")
    return "\n".join([introduction, head, *(text for _, text in lines)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "bench" / "results" / "peers.json")
    parser.add_argument("--readme", type=pathlib.Path, default=ROOT / "README.md")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = arguments.readme.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{arguments.readme}: expected one line '{BEGIN}' and after it one line '{END}'")
    before, after = text[:text.index(BEGIN)], text[text.index(END):]
    wanted = f"{before}{BEGIN}\n{table(json.loads(arguments.json.read_text()))}\n{after}"
    if arguments.check:
        sys.exit(0 if text == wanted else f"{arguments.readme} is out of date: run bench/peers/readme_table.py")
    arguments.readme.write_text(wanted)


if __name__ == "__main__":
    main()
