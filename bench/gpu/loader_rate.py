#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images per second from JPEG bytes in host memory to augmented fp16 batches on the GPU.

    loader_rate.py SETS --yoload build/release/yoload --rounds 3 --out result.json

SETS is what make_sets.py made. Every case runs its sides in turns, each run a process of its own; the
ratios are of runs of the same round. Sides:

    yoload          yoload bench --device cuda --cache bytes --dtype float16: mosaic, warp, HSV, flip
    yoload-no-engines  the same with the GPU's JPEG engines left alone
    dali            nvidia.dali: mixed decode, resize, mosaic of four pictures of the batch, warp, HSV, flip
    dali-no-engines the same with hw_decoder_load=0
    torchvision     decode_jpeg(device="cuda") and resize to the square, nothing else
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from typing import Any

CASES = [
    # name, set, imgsz, batch, epochs, sides
    ("photos b64", "as_is", 640, 64, 6, ["yoload", "dali"]),
    ("photos b256", "as_is", 640, 256, 6, ["yoload", "dali"]),
    ("q90 4:2:0 b64", "q90_420", 640, 64, 6, ["yoload"]),
    ("q90 4:2:0 b256", "q90_420", 640, 256, 6, ["yoload", "dali"]),
    ("no engines b256", "as_is", 640, 256, 3, ["yoload-no-engines", "dali-no-engines", "torchvision"]),
    ("imgsz 1280 b64", "side1280", 1280, 64, 3, ["yoload", "dali", "torchvision"]),
    ("12 megapixels b64", "mp12", 640, 64, 6, ["yoload", "dali", "torchvision"]),
]  # fmt: skip


def outcome(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "no end after 300 s")


def yoload(args: argparse.Namespace, folder: pathlib.Path, imgsz: int, batch: int, epochs: int, *more: str) -> Any:
    command = [args.yoload, "bench", str(folder / "data.yaml"), "--device", "cuda", "--json",
               "--imgsz", str(imgsz), "--batch", str(batch), "--epochs", str(epochs), "--warmup", "2",
               "--dtype", "float16", "--cache", "bytes", "--memory-budget", "8GB",
               "--threads", str(args.threads), "--drop-last", *args.more, *more]  # fmt: skip
    done = outcome(command)
    if done.returncode:
        return {"error": done.stderr[-500:]}
    out = json.loads(done.stdout)
    keep = ("images_per_s", "decodes_per_image", "cpu_s_per_image", "threads", "stages", "device_stages",
            "decoded_by_engines", "decoded_by_multiprocessors", "decoded_by_cpu", "gpu_busy", "jpeg_engines_busy", "peak_rss_bytes", "verdict")  # fmt: skip
    return {key: out[key] for key in keep if key in out}


def peer(args: argparse.Namespace, script: str, folder: pathlib.Path, *more: str) -> Any:
    here = pathlib.Path(__file__).parent
    command = [sys.executable, str(here / script), str(folder / "images"), *more]
    done = outcome(command)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": (done.stdout + done.stderr)[-800:]}


def run(args: argparse.Namespace, side: str, folder: pathlib.Path, imgsz: int, batch: int, epochs: int) -> Any:
    common = ["--imgsz", str(imgsz), "--batch", str(batch), "--epochs", str(epochs)]
    if side == "yoload":
        return yoload(args, folder, imgsz, batch, epochs)
    if side == "yoload-no-engines":
        return yoload(args, folder, imgsz, batch, epochs, "--no-hardware-decode", *args.no_engines)
    if side == "dali":
        return peer(args, "dali_side.py", folder, *common)
    if side == "dali-no-engines":
        return peer(args, "dali_side.py", folder, *common, "--no-engines")
    return peer(args, "torchvision_side.py", folder, *common)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=pathlib.Path)
    parser.add_argument("--yoload", default="yoload")
    parser.add_argument("--cases", nargs="*", help="names, or parts of names")
    parser.add_argument("--sides", nargs="*", help="only these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=4, help="yoload's")
    parser.add_argument("--more", nargs="*", default=[], help="for yoload, without the dashes: decode-batch=64")
    parser.add_argument("--no-engines", nargs="*", default=["threads=14"], help="for yoload without engines")
    parser.add_argument("--out")
    args = parser.parse_args()
    args.more = [f"--{option}" for option in args.more]
    args.no_engines = [f"--{option}" for option in args.no_engines]
    result: dict[str, Any] = {"what": "images per second on the GPU, JPEG bytes in host memory to fp16 batches",
                              "machine": {"cores": os.cpu_count()}, "cases": {}}  # fmt: skip
    for name, folder, imgsz, batch, epochs, sides in CASES:
        if args.cases and not any(part in name for part in args.cases):
            continue
        sides = [side for side in sides if not args.sides or side in args.sides]
        runs: dict[str, list[Any]] = {side: [] for side in sides}
        for round_ in range(args.rounds):
            for side in sides:
                start = time.monotonic()
                one = run(args, side, args.sets / folder, imgsz, batch, epochs)
                runs[side].append(one)
                rate = one.get("images_per_s")
                print(f"{name:<20}{round_} {side:<20}", f"{rate:9.0f} img/s" if rate else one,
                      f"({time.monotonic() - start:.1f} s)", flush=True)  # fmt: skip
        rates = {side: [r["images_per_s"] for r in runs[side] if "images_per_s" in r] for side in sides}
        medians = {side: statistics.median(values) for side, values in rates.items() if values}
        ratios = {}
        for side in sides[1:]:
            pairs = [a / b for a, b in zip(rates[sides[0]], rates[side])]
            if pairs:
                ratios[f"{sides[0]} / {side}"] = {"median": statistics.median(pairs), "min": min(pairs), "max": max(pairs)}
        result["cases"][name] = {"medians": medians, "ratios": ratios, "runs": runs}
        if args.out:
            pathlib.Path(args.out).write_text(json.dumps(result, indent=1))
    for name, case in result["cases"].items():
        print(name, {k: round(v) for k, v in case["medians"].items()}, {k: round(v["median"], 2) for k, v in case["ratios"].items()})
    # A peer may be absent; we may not fail.
    runs = [one for case in result["cases"].values() for side, all_ in case["runs"].items() if side.startswith("yoload") for one in all_]
    if any("error" in one for one in runs):
        raise SystemExit("a run of yoload failed")


if __name__ == "__main__":
    main()
