#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are a sample's random numbers distributed as the installed Ultralytics draws them?

    distributions.py [--draws 20000] [--out result.json]

yoload's come from `yoload explain --draws`. The package's are recorded: its own data set renders as many
samples of 16 tiny pictures, and every call on `random` and `numpy.random` is noted (reference.py says in
which order they come). Filter parameters come from albumentations itself, multi-scale from the documented
rule. Numbers: two-sample Kolmogorov-Smirnov; choices and gates: chi-square. Seeds are fixed; a line holds
where p > 0.001. Exits 1 where one does not.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import reference
from PIL import Image
from scipy import stats

PICTURES, SIDE_PX = 16, 32
LEAST_P = 1e-3
HYP = dict(
    mosaic=0.7, mixup=0.4, cutmix=0.5, copy_paste=0.0, degrees=10.0, translate=0.1, scale=0.5, shear=3.0,
    perspective=0.0005, hsv_h=0.015, hsv_s=0.7, hsv_v=0.4, flipud=0.3, fliplr=0.5, bgr=0.2,
)  # fmt: skip
WARP = ("p20", "p21", "degrees", "scale", "shear_x_degrees", "shear_y_degrees", "shift_x", "shift_y")
Values = dict[str, list[float]]


def tiny_set(root: Path) -> Path:
    rng = np.random.default_rng(0)
    for folder in ("images", "labels"):
        (root / folder).mkdir(parents=True)
    for i in range(PICTURES):
        picture = rng.integers(0, 256, (SIDE_PX, SIDE_PX, 3), dtype=np.uint8)
        Image.fromarray(picture).save(root / "images" / f"{i:02}.png")
        (root / "labels" / f"{i:02}.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    (root / "data.yaml").write_text(f"path: {root}\ntrain: images\nval: images\nnames: [nut]\n")
    return root


# -- yoload ------------------------------------------------------------------------------------------


def add_layer(values: Values, prefix: str, layer: dict[str, Any], records: dict[str, int]) -> None:
    mosaic = len(layer["positions"]) == 4
    values[prefix + "mosaic gate"].append(mosaic)
    if mosaic:
        values[prefix + "mosaic centre x"].append(layer["centre_x"])
        values[prefix + "mosaic centre y"].append(layer["centre_y"])
        values[prefix + "mosaic partner"] += [records[str(p)] for p in layer["positions"][1:]]
    for name in WARP:
        values[prefix + name].append(layer[name])


def of_yoload(data: Path, draws: int, seed: int) -> Values:
    values: Values = defaultdict(list)
    for entry in reference.drawn(data, HYP, SIDE_PX, seed, draws, **reference.FILTERS_OFF):
        drawn, records = entry["draws"], entry["records"]
        mix = drawn["mix"]
        add_layer(values, "", drawn["own"], records)
        values["mixup gate"].append(mix == "mixup")
        if mix != "mixup":  # where both pass, mixup wins
            values["cutmix gate"].append(mix == "cutmix")
        if mix != "none":
            values[mix + " partner"].append(records[str(drawn["partner"]["positions"][0])])
            add_layer(values, "partner's ", drawn["partner"], records)
        if mix == "mixup":
            values["mixup ratio"].append(drawn["mixup_ratio"])
        if mix == "cutmix":
            for candidate in drawn["cutmix"]:
                values["cutmix side"].append(candidate["side"])
                values["cutmix x"].append(int(candidate["x"] * SIDE_PX))
                values["cutmix y"].append(int(candidate["y"] * SIDE_PX))
            values["cutmix pick of three"].append(int(3 * drawn["cutmix_pick"]))
        for name, gain in zip("hsv", drawn["hsv_gain"]):
            values["hsv gain " + name].append(gain)
        for name in ("flipud", "fliplr", "bgr"):
            values[name + " gate"].append(drawn[name])
    filters = dict(blur=0.3, median_blur=0.4, to_gray=0.2, clahe=0.5)
    for entry in reference.drawn(data, HYP, SIDE_PX, seed + 1, draws, **filters):
        found = {f["kind"]: f for f in entry["draws"]["filters"]}
        for name in filters:
            values[name + " gate"].append(name in found)
        for name in ("blur", "median_blur"):
            if name in found:
                values[name + " size"].append(found[name]["size_px"])
        if "clahe" in found:
            values["clahe clip limit"].append(found["clahe"]["clip"])
    more = {"multi_scale": 0.5, "batch": 1}
    for entry in reference.drawn(data, HYP, 640, seed + 2, draws, **more):
        values["multi-scale size"].append(entry["out_width_px"])
    return values


# -- the package -------------------------------------------------------------------------------------


class Recorder:
    """Lets the calls through and notes them."""

    def __init__(self) -> None:
        self.functions = {"random." + n: getattr(random, n) for n in dir(random) if not n.startswith("_")}
        names = ("uniform", "beta", "randint", "choice", "random")
        self.functions |= {"numpy." + n: getattr(np.random, n) for n in names}
        self.calls: list[tuple[str, tuple[Any, ...], Any]] = []

    def take(self, name: str, *args: Any, **named: Any) -> Any:
        value = self.functions[name](*args, **named)
        self.calls.append((name, args, value))
        return value


class Log:
    """The calls of one sample, read in their order."""

    def __init__(self, calls: list[tuple[str, tuple[Any, ...], Any]]) -> None:
        self.calls: Iterator[Any] = iter(calls)
        self.next = next(self.calls, None)

    def read(self, name: str) -> Any:
        if self.next is None or self.next[0] != name:
            raise reference.Unexpected(f"{self.next} where {name} was due")
        value = self.next[2]
        self.next = next(self.calls, None)
        return value


def read_layer(log: Log, values: Values, prefix: str) -> None:
    mosaic = log.read("random.uniform") <= HYP["mosaic"]
    values[prefix + "mosaic gate"].append(mosaic)
    if mosaic:
        values[prefix + "mosaic partner"] += [log.read("random.randint") for _ in range(3)]  # cache="ram"
        values[prefix + "mosaic centre y"].append(log.read("random.uniform") / SIDE_PX)
        values[prefix + "mosaic centre x"].append(log.read("random.uniform") / SIDE_PX)
    for name in WARP:
        values[prefix + name].append(log.read("random.uniform"))


def read_sample(log: Log, values: Values) -> None:
    read_layer(log, values, "")
    mixup = log.read("random.uniform") <= HYP["mixup"]
    values["mixup gate"].append(mixup)
    if mixup:
        values["mixup partner"].append(log.read("random.randint"))
        read_layer(log, values, "partner's ")
        values["mixup ratio"].append(log.read("numpy.beta"))
    cutmix = log.read("random.uniform") <= HYP["cutmix"]
    values["cutmix gate"].append(cutmix)
    if cutmix:
        values["cutmix partner"].append(log.read("random.randint"))
        read_layer(log, values, "partner's ")
        for _ in range(3):
            values["cutmix side"].append(float(np.sqrt(1 - log.read("numpy.beta"))))
            values["cutmix x"].append(log.read("numpy.randint"))
            values["cutmix y"].append(log.read("numpy.randint"))
        if log.next and log.next[0] == "numpy.choice":
            free = np.asarray(log.next[1][0])
            chosen = log.read("numpy.choice")
            if len(free) == 3:
                values["cutmix pick of three"].append(int(np.flatnonzero(free == chosen)[0]))
    log.read("random.random")  # albumentations
    for name, u in zip("hsv", log.read("numpy.uniform")):
        values["hsv gain " + name].append(float(u) * HYP["hsv_" + name])
    for name in ("flipud", "fliplr"):
        values[name + " gate"].append(log.read("random.random") < HYP[name])
    values["bgr gate"].append(log.read("random.uniform") <= HYP["bgr"])
    if log.next is not None:
        raise reference.Unexpected(f"{log.next} at the end")


def of_package(root: Path, draws: int, seed: int) -> Values:
    package = reference.dataset(root, HYP, SIDE_PX, "detect", dict(names={0: "nut"}, nc=1, channels=3), cache="ram")
    values: Values = defaultdict(list)
    recorder = Recorder()
    random.seed(seed)
    np.random.seed(seed)
    for i in range(draws):
        recorder.calls = []
        with reference.replaced_random(recorder.take):
            package[i % PICTURES]
        read_sample(Log(recorder.calls), values)
    add_filters(values, draws, seed)
    rng = np.random.default_rng(seed)
    low, high = max(32, int(640 * 0.5)), int(640 * 1.5) + 32
    values["multi-scale size"] = list(rng.integers(low, high, draws) // 32 * 32)
    return values


def add_filters(values: Values, draws: int, seed: int) -> None:
    import albumentations as filters

    rng = np.random.default_rng(seed)
    for name, p in dict(blur=0.3, median_blur=0.4, to_gray=0.2, clahe=0.5).items():
        values[name + " gate"] = list(rng.random(draws) < p)
    made = dict(
        blur=filters.Blur(p=1.0), median_blur=filters.MedianBlur(p=1.0), clahe=filters.CLAHE(p=1.0, clip_limit=(1, 4))
    )  # as the package lists them: blur_limit (3, 7), clip_limit (1, 4)
    for name, one in made.items():
        one.set_random_seed(seed + len(name))
        for _ in range(draws):
            drawn = one.get_params()
            if name == "clahe":
                values["clahe clip limit"].append(drawn["clip_limit"])
            else:
                size = drawn["kernel" if "kernel" in drawn else "kernel_size"]
                values[name + " size"].append(int(np.max(size)))


# -- the comparison ----------------------------------------------------------------------------------


def is_counted(name: str) -> bool:
    """One of a few values: compared by how often each comes."""
    return name.endswith(("gate", "partner", "size", "three", "cutmix x", "cutmix y"))


def compare(name: str, ours: list[float], theirs: list[float]) -> dict[str, Any]:
    a, b = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    line = dict(ours=len(a), theirs=len(b), mean_ours=float(a.mean()), mean_theirs=float(b.mean()))
    if is_counted(name):
        kinds = np.union1d(a, b)
        table = np.array([[np.count_nonzero(side == kind) for kind in kinds] for side in (a, b)])
        test = stats.chi2_contingency(table, correction=False)
        return {**line, "test": "chi-square", "statistic": float(test.statistic), "p": float(test.pvalue)}
    test = stats.ks_2samp(a, b, method="asymp")
    return {**line, "test": "Kolmogorov-Smirnov", "statistic": float(test.statistic), "p": float(test.pvalue)}


def run(draws: int, seed: int = 1) -> dict[str, dict[str, Any]]:
    with tempfile.TemporaryDirectory() as root:
        folder = tiny_set(Path(root) / "set")
        ours, theirs = of_yoload(folder / "data.yaml", draws, seed), of_package(folder, draws, seed)
    if set(ours) != set(theirs):
        raise SystemExit(f"only one side draws {sorted(set(ours) ^ set(theirs))}")
    return {name: compare(name, ours[name], theirs[name]) for name in ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="JSON")
    args = parser.parse_args()
    results = run(args.draws, args.seed)
    print("| number | draws: yoload, package | mean: yoload, package | test | statistic | p | holds |")
    print("|---|---|---|---|---|---|---|")
    for name, r in results.items():
        print(
            f"| {name} | {r['ours']}, {r['theirs']} | {r['mean_ours']:.5g}, {r['mean_theirs']:.5g} | {r['test']} | "
            f"{r['statistic']:.4g} | {r['p']:.4f} | {'yes' if r['p'] > LEAST_P else 'NO'} |"
        )
    if args.out:
        Path(args.out).write_text(json.dumps(results, indent=1))
    sys.exit(any(not r["p"] > LEAST_P for r in results.values()))


if __name__ == "__main__":
    main()
