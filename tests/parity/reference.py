# SPDX-License-Identifier: Apache-2.0
"""The reference as a black box: the installed package with its random numbers replaced by given ones.

Knows the package by its public classes and by the calls that it was seen to make on `random` and
`numpy.random`, in this order (docs/semantics.md, Draws):

    a layer          mosaic: random.uniform(0, 1); if it passes choices(buffer, k=3),
                     uniform(s/2, 3s/2) for y and x
                     copy_paste_mode mixup has its gate after the perspective
                     perspective: eight times uniform
    mixup, cutmix    uniform(0, 1); if it passes randint(0, n - 1) and the partner's layer;
                     mixup: numpy beta(32, 32); cutmix: three times numpy beta(1, 1), randint(w),
                     randint(h), then choice(free rectangles)
    albumentations   random.random()
    hsv              numpy uniform(-1, 1, 3)
    flips            random.random(), vertical first
    bgr              uniform(0, 1)
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import yoload

PASS, FAIL = 0.0, 2.0  # what a gate is answered: U <= p or U < p

# Everything random switched off; names are the same on both sides.
OFF = dict(
    mosaic=0.0, mixup=0.0, cutmix=0.0, copy_paste=0.0, degrees=0.0, translate=0.0, scale=0.0, shear=0.0,
    perspective=0.0, hsv_h=0.0, hsv_s=0.0, hsv_v=0.0, flipud=0.0, fliplr=0.0, bgr=0.0,
)  # fmt: skip
FILTERS_OFF = dict(blur=0.0, median_blur=0.0, to_gray=0.0, clahe=0.0)


class Unexpected(Exception):
    """The package made another random call than the script foresaw."""


class Script:
    """Answers the package's random calls, in order; each answer names the call that it is for."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Any]] = []

    def add(self, name: str, answer: Any) -> None:
        self.answers.append((name, answer))

    def take(self, name: str, *args: Any, **named: Any) -> Any:
        if self.answers and self.answers[0][0] == "numpy.choice" != name:
            self.answers.pop(0)  # cutmix picks nothing where no rectangle is free
        if not self.answers or self.answers[0][0] != name:
            due = self.answers[0][0] if self.answers else "nothing"
            raise Unexpected(f"{name}{args}{named} was called where {due} was due")
        answer = self.answers.pop(0)[1]
        return answer(*args, **named) if callable(answer) else answer

    def draw_between(self, value: float, move: float = 0) -> None:
        """The next random.uniform(low, high) is to be `value`, which has to lie between them, plus `move`."""

        def check(low: float, high: float) -> float:
            slack = 1e-6 * (1 + abs(high))  # the options are float32 on one side
            if not low - slack <= value <= high + slack:
                raise Unexpected(f"{value} is not between {low} and {high}")
            return value + move

        self.add("random.uniform", check)


@contextlib.contextmanager
def replaced_random(take: Any) -> Iterator[None]:
    """All calls of the two random modules that the package was seen to make go to `take`."""
    names = [(random, "random." + n) for n in ("random", "uniform", "randint", "choices", "choice", "sample")]
    names += [(np.random, "numpy." + n) for n in ("uniform", "beta", "randint", "choice", "random")]
    saved = [(module, name, getattr(module, name.split(".")[1])) for module, name in names]
    try:
        for module, name, _ in saved:
            setattr(module, name.split(".")[1], lambda *a, _name=name, **k: take(_name, *a, **k))
        yield
    finally:
        for module, name, function in saved:
            setattr(module, name.split(".")[1], function)


def script_layer(script: Script, layer: dict[str, Any], entry: dict[str, Any], imgsz: int, sizes: Any) -> None:
    """`sizes`: record -> (height, width) of the resized picture.

    Note [Half a pixel]. yoload puts a single picture on a square canvas at whole pixels, so an odd padding
    is half a pixel smaller on the left or above; the package turns it about its own centre. There the
    package's shift is moved by as much: rotation or shear would need more, and no case has them here.
    """
    records = [entry["records"][str(p)] for p in layer["positions"]]
    mosaic = len(records) == 4
    script.add("random.uniform", PASS if mosaic else FAIL)
    move = {"shift_x": 0.0, "shift_y": 0.0}
    if mosaic:
        script.add("random.choices", lambda buffer, k: records[1:])
        script.draw_between(layer["centre_y"] * imgsz)
        script.draw_between(layer["centre_x"] * imgsz)
    else:
        for name, side in zip(("shift_y", "shift_x"), sizes(records[0])):
            move[name] = -layer["scale"] * ((imgsz - side) % 2) / 2 / imgsz
    for name in ("p20", "p21", "degrees", "scale", "shear_x_degrees", "shear_y_degrees", "shift_x", "shift_y"):
        script.draw_between(layer[name], move.get(name, 0.0))


def script_hsv(script: Script, draws: dict[str, Any], hyp: dict[str, Any]) -> None:
    gains = [hyp["hsv_h"], hyp["hsv_s"], hyp["hsv_v"]]
    if any(gains):
        units = [g / gain if gain else 0 for g, gain in zip(draws["hsv_gain"], gains)]
        script.add("numpy.uniform", np.array(units))


def script_sample(entry: dict[str, Any], hyp: dict[str, Any], imgsz: int, sizes: Any, augment: bool) -> Script:
    """The script that makes the package draw what `entry`, a line of `yoload explain --draws`, says."""
    draws, records = entry["draws"], entry["records"]
    script = Script()
    if not augment:
        script.add("random.uniform", FAIL)  # bgr
        return script
    script_layer(script, draws["own"], entry, imgsz, sizes)

    def partner() -> None:
        record = records[str(draws["partner"]["positions"][0])]
        script.add("random.randint", record)
        script_layer(script, draws["partner"], entry, imgsz, sizes)

    if hyp["copy_paste"] > 0 and hyp.get("copy_paste_mode") == "mixup":
        script.add("random.uniform", PASS if draws["mix"] == "paste" else FAIL)
        if draws["mix"] == "paste":
            partner()
    script.add("random.uniform", PASS if draws["mix"] == "mixup" else FAIL)
    if draws["mix"] == "mixup":
        partner()
        script.add("numpy.beta", draws["mixup_ratio"])
    script.add("random.uniform", PASS if draws["mix"] == "cutmix" else FAIL)
    if draws["mix"] == "cutmix":
        partner()
        for candidate in draws["cutmix"]:
            script.add("numpy.beta", 1 - candidate["side"] ** 2)
            for name in ("x", "y"):
                script.add("numpy.randint", lambda end, _at=candidate[name]: int(end * _at))

        def pick(free: Any) -> Any:
            return free[int(draws["cutmix_pick"] * len(free))]

        script.add("numpy.choice", pick)
    script.add("random.random", FAIL)  # albumentations
    script_hsv(script, draws, hyp)
    script.add("random.random", PASS if draws["flipud"] else FAIL)
    script.add("random.random", PASS if draws["fliplr"] else FAIL)
    script.add("random.uniform", PASS if draws["bgr"] else FAIL)
    return script


def rendered(package: Any, record: int, script: Script) -> dict[str, Any]:
    """The package's sample of that picture, with the script's random numbers."""
    try:
        with replaced_random(script.take):
            sample = package[record]
    except Unexpected as error:
        raise Unexpected(str(error)) from None  # without the package's own lines
    if script.answers:
        raise Unexpected(f"not called: {[name for name, _ in script.answers]}")
    return sample


def program() -> Path | None:
    """The yoload program that belongs to the library in use."""
    named = os.environ.get("YOLOAD_PROGRAM")
    library = os.environ.get("YOLOAD_LIBRARY")
    places = [Path(named)] if named else []
    places += [Path(library).parent / "yoload"] if library else []
    places.append(Path(yoload.__file__).parent / "bin" / "yoload")
    return next((p for p in places if p.exists()), None)


def drawn(data: Path, hyp: dict[str, Any], imgsz: int, seed: int, count: int, **more: Any) -> list[dict[str, Any]]:
    """The random numbers of the first `count` samples, as `yoload explain --draws` prints them."""
    command = [str(program()), "explain", str(data), "--draws", str(count), "--imgsz", str(imgsz), "--seed", str(seed)]
    for name, value in {**hyp, **more}.items():
        command += ["--" + name.replace("_", "-"), str(value)]
    out = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def dataset(
    root: Path, hyp: dict[str, Any], imgsz: int, task: str, data: dict[str, Any], augment: bool = True,
    cache: str | None = None,
) -> Any:  # fmt: skip
    """The package's data set over root/images."""
    from ultralytics.data import YOLODataset
    from ultralytics.utils import DEFAULT_CFG, IterableSimpleNamespace

    settings = IterableSimpleNamespace(**{**vars(DEFAULT_CFG), **hyp})
    return YOLODataset(
        img_path=str(root / "images"), imgsz=imgsz, augment=augment, hyp=settings, rect=False, cache=cache, data=data,
        task=task, batch_size=16, prefix="",
    )  # fmt: skip


def resized(height: int, width: int, imgsz: int) -> tuple[int, int]:
    """Size of a picture once its longest side is imgsz."""
    gain = imgsz / max(height, width)
    return min(math.ceil(height * gain), imgsz), min(math.ceil(width * gain), imgsz)


def copy_set(
    images: Path, labels: Path, root: Path, classes: int, extra: str = "", largest: float = 1, use: Any = None
) -> Path:  # fmt: skip
    """A data set of links to `images` and copies of those labels that both sides take whole.

    The package writes a cache beside the labels, hence the copy. It drops a picture of which one row lies
    outside of it, where yoload drops the row: pictures with a value above `largest` are left out, and
    those of which `use` says no.
    """
    if not (root / "data.yaml").exists():
        (root / "images").mkdir(parents=True)
        (root / "labels").mkdir()
        for picture in sorted(images.rglob("*.jpg")):
            label = labels / picture.relative_to(images).with_suffix(".txt")
            rows = label.read_text().splitlines() if label.exists() else []
            values = [float(v) for row in rows for v in row.split()[1:]]
            if use and not use(picture):
                continue
            if not rows or min(values) < 0 or max(values) > largest:
                continue
            (root / "images" / picture.name).symlink_to(picture)
            shutil.copyfile(label, root / "labels" / label.name)
        listed = "\n".join(f"  {i}: class{i}" for i in range(classes))
        (root / "data.yaml").write_text(f"path: {root}\ntrain: images\nval: images\n{extra}names:\n{listed}\n")
    return root
