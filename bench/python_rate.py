#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does iterating from Python cost? The package's rate over that of `yoload bench`, same settings.

    python_rate.py DATA.yaml --program build/release/yoload --threads 2 --rounds 5

Sides are interleaved; each is a process, and its first epoch is warm-up. Prints the medians, and the ratio of
each round as median, minimum and maximum.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time


def iterate(args: argparse.Namespace) -> None:
    import yoload

    with yoload.Loader(args.data, batch_size=args.batch, imgsz=args.imgsz, workers=args.threads,
                       output=args.output) as loader:  # fmt: skip
        for _ in loader:
            pass
        images, cpu, start = 0, time.process_time(), time.perf_counter()
        for _ in range(args.epochs):
            for batch in loader:
                images += len(batch["im_file"])
        wall = time.perf_counter() - start
        print(json.dumps({"rate": images / wall, "cpu_ms": (time.process_time() - cpu) / images * 1e3}))


def bench(args: argparse.Namespace) -> dict[str, float]:
    command = [args.program, "bench", args.data, "--threads", str(args.threads), "--batch", str(args.batch)]
    command += ["--imgsz", str(args.imgsz), "--epochs", str(args.epochs), "--warmup", "1", "--json"]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {"rate": done["images_per_s"], "cpu_ms": done["cpu_s_per_image"] * 1e3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--program", default="build/release/yoload")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--outputs", nargs="+", default=["torch", "numpy"])
    parser.add_argument("--output", help=argparse.SUPPRESS)
    parser.add_argument("--out")
    args = parser.parse_args()
    if args.output:
        iterate(args)
        return
    runs: dict[str, list[dict[str, float]]] = {"bench": [], **{name: [] for name in args.outputs}}
    for _ in range(args.rounds):
        runs["bench"].append(bench(args))
        for name in args.outputs:
            command = [sys.executable, __file__, *sys.argv[1:], "--output", name]
            done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            runs[name].append(json.loads(done.splitlines()[-1]))
    result = {}
    for name, values in runs.items():
        result[name] = {key: statistics.median(v[key] for v in values) for key in ("rate", "cpu_ms")}
        for key, label in (("rate", "rate_ratio"), ("cpu_ms", "cpu_ratio")):
            ratios = [v[key] / b[key] for v, b in zip(values, runs["bench"])]
            result[name][label] = [statistics.median(ratios), min(ratios), max(ratios)]
    print(json.dumps(result, indent=1))
    if args.out:
        with open(args.out, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
