#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pixels and labels of a sample, for given random numbers, against the installed Ultralytics.

    pixels_by_plan.py SHARED_DATA [--samples 24] [--imgsz 640] [--case NAME ...] [--out result.json]

yoload draws the random numbers of a sample (`yoload explain --draws`) and renders it; the package's random
source is scripted to give the same numbers (reference.py) and its own data set renders the same sample.
Prints a table a case; exits 1 where a case leaves its bounds. SHARED_DATA has coco256 and coco-json.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import reference
import yoload
from PIL import Image
from scipy.optimize import linear_sum_assignment

BOX_PX = 1e-3
DEFAULT_WARP = dict(mosaic=1.0, translate=0.1, scale=0.5)
TURNED = dict(mosaic=1.0, translate=0.1, scale=0.3, degrees=15.0, shear=8.0)
DEFAULTS = dict(DEFAULT_WARP, hsv_h=0.015, hsv_s=0.7, hsv_v=0.4, fliplr=0.5)
# HSV on the same pixels keeps the usual bound, which is checked apart. After a resize or warp, whose results
# differ by 1 level in a few per cent of the values, the gain of saturation and the steps of 8-bit hue
# (2 degrees) make more of that one level.
AFTER_RESIZE = 0.06
OUTLINES = 0.003  # pixels along the outlines of pasted objects


@dataclass
class Case:
    """`loose_share`: of the channel values, that may differ by more than one level."""

    set: str
    hyp: dict[str, Any]
    loose_share: float = 0.001
    augment: bool = True
    mask_ratio: int = 1
    box_px: float = BOX_PX


CASES = {
    "letterbox": Case("detect", {}),
    "validation": Case("detect", {}, augment=False),
    "mosaic": Case("detect", dict(mosaic=1.0)),
    "mosaic, scale, translate": Case("detect", DEFAULT_WARP),
    "one picture, scale, translate": Case("detect", dict(translate=0.1, scale=0.5)),
    "rotation, shear": Case("detect", TURNED),
    "rotation, shear, perspective": Case("detect", dict(TURNED, perspective=0.0005)),
    "hsv": Case("detect", dict(hsv_h=0.015, hsv_s=0.7, hsv_v=0.4), AFTER_RESIZE),
    "hsv, unresized pictures": Case("square", dict(hsv_h=0.5, hsv_s=0.7, hsv_v=0.4)),
    "hsv, gains of 0.5": Case("detect", dict(hsv_h=0.5, hsv_s=0.5, hsv_v=0.5), AFTER_RESIZE),
    "flips, bgr": Case("detect", dict(flipud=0.5, fliplr=0.5, bgr=0.5)),
    "mixup": Case("detect", dict(DEFAULT_WARP, mixup=1.0)),
    "cutmix": Case("detect", dict(DEFAULT_WARP, cutmix=1.0)),
    "defaults": Case("detect", DEFAULTS, AFTER_RESIZE),
    "polygons": Case("segment", DEFAULT_WARP),
    "polygons, masks at 1/4": Case("segment", DEFAULT_WARP, mask_ratio=4),
    "polygons, rotation, shear": Case("segment", TURNED),
    # Which copies are pasted depends on boxes of polygons that the canvas cuts, and those differ on purpose:
    # hence pictures that nothing cuts before the pasting, and of even padding (Note [Half a pixel]).
    # All candidates are pasted: which of several that cover nothing come first, the package leaves to an
    # unstable sort. Outlines are filled from whole pixels on both sides, but the package's have 1000 points.
    "copy-paste, flip": Case("even", dict(translate=0.1, scale=0.5, copy_paste=1.0), OUTLINES),
    "copy-paste, mixup": Case("even", dict(scale=0.004, copy_paste=1.0, copy_paste_mode="mixup"), OUTLINES),
    "keypoints": Case("pose", dict(TURNED, fliplr=0.5)),
    # Corners, from float32 angles on both sides.
    "oriented boxes": Case("obb", dict(TURNED, fliplr=0.5), box_px=5e-3),
}  # fmt: skip


@dataclass
class Figures:
    """What was found over all samples of a case."""

    samples: int = 0
    objects: int = 0
    values: int = 0
    level_counts: np.ndarray = field(default_factory=lambda: np.zeros(256, np.int64))
    hsv_counts: np.ndarray = field(default_factory=lambda: np.zeros(256, np.int64))  # on the same pixels
    count_mismatches: int = 0  # samples with another number of objects, or other classes
    unpaired: int = 0  # objects that only one side has
    box_px: list[float] = field(default_factory=list)
    cut_px: list[float] = field(default_factory=list)  # polygons cut by the frame, where ours holds theirs
    cut_lost: int = 0  # polygons cut by the frame of which the package keeps nothing
    empty_masks: int = 0  # the package's objects without a mask cell, which yoload drops and counts
    keypoint_px: list[float] = field(default_factory=list)
    visibility_mismatches: int = 0
    mask_values: int = 0
    mask_only: list[int] = field(default_factory=lambda: [0, 0])  # cells set by one side: ours, theirs
    notes: list[str] = field(default_factory=list)

    def hsv_share_within_1(self) -> float:
        return float(self.hsv_counts[:2].sum() / max(self.hsv_counts.sum(), 1)) if self.hsv_counts.any() else 1.0

    def share_within(self, levels: int) -> float:
        return float(self.level_counts[: levels + 1].sum() / self.values)

    def largest_level(self) -> int:
        return int(np.flatnonzero(self.level_counts)[-1])


def square_set(source: Path, root: Path, imgsz: int) -> Path:
    """Pictures that already have the final size: nothing but colour happens to them."""
    for folder in ("images", "labels"):
        (root / folder).mkdir(parents=True)
    for picture in sorted(source.glob("*.jpg"))[:32]:
        Image.open(picture).convert("RGB").resize((imgsz, imgsz)).save(root / "images" / (picture.stem + ".png"))
        (root / "labels" / (picture.stem + ".txt")).write_text("0 0.5 0.5 0.25 0.25\n")
    (root / "data.yaml").write_text(f"path: {root}\ntrain: images\nval: images\nnames: [class0]\n")
    return root


def sets(shared: Path, root: Path, imgsz: int) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Name -> folder with data.yaml, and what the package wants to know of it."""
    coco256, coco = shared / "coco256", shared / "coco-json"
    flip = [0, 2, 1, 4, 3, 6, 5, 8, 7, 10, 9, 12, 11, 14, 13, 16, 15]
    pose = dict(kpt_shape=[17, 3], flip_idx=flip)
    text = f"kpt_shape: [17, 3]\nflip_idx: {flip}\n"

    def facts(classes: int, **more: Any) -> dict[str, Any]:
        return dict(names={i: f"class{i}" for i in range(classes)}, nc=classes, channels=3, **more)

    def even(picture: Path) -> bool:
        width, height = Image.open(picture).size
        return all((imgsz - side) % 2 == 0 for side in reference.resized(height, width, imgsz))

    copy = reference.copy_set
    polygons = coco256 / "labels-seg"
    # Polygons carry COCO's own class numbers, up to 90.
    return {
        "detect": (copy(coco256 / "images", coco256 / "labels", root / "detect", 80), facts(80)),
        "square": (square_set(coco256 / "images", root / "square", imgsz), facts(1)),
        "segment": (copy(coco256 / "images", polygons, root / "segment", 91), facts(91)),
        "even": (copy(coco256 / "images", polygons, root / "even", 91, use=even), facts(91)),
        "pose": (copy(coco / "images", coco / "labels-pose", root / "pose", 1, text, 2), facts(1, **pose)),
        "obb": (copy(coco / "images", coco / "labels-obb", root / "obb", 80), facts(80)),
    }


def corners(boxes: np.ndarray, side: int) -> np.ndarray:
    """Normalised x y w h -> x0 y0 x1 y1 in px; of oriented boxes the four corners."""
    b = np.asarray(boxes, np.float64)
    x, y, w, h = (b[:, i] * side for i in range(4))
    if b.shape[1] == 4:
        return np.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], 1)
    c, s = np.cos(b[:, 4]), np.sin(b[:, 4])
    points = [(x + i * w / 2 * c - j * h / 2 * s, y + i * w / 2 * s + j * h / 2 * c)
              for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]  # fmt: skip
    return np.stack([v for p in points for v in p], 1)


def paired(
    ours: np.ndarray, theirs: np.ndarray, our_cls: np.ndarray, their_cls: np.ndarray
) -> list[tuple[int, int, float]]:
    """The nearest partner of each box, of the same class."""
    if not len(ours) or not len(theirs):
        return []
    far = np.abs(ours[:, None] - theirs[None]).max(2)
    if ours.shape[1] == 8:  # which corner comes first says nothing
        turns = [np.roll(theirs, 2 * k, 1) for k in range(4)]
        far = np.min([np.abs(ours[:, None] - t[None]).max(2) for t in turns], 0)
    far = far + 1e6 * (our_cls[:, None] != their_cls[None])
    rows, columns = linear_sum_assignment(far)
    return [(r, c, far[r, c]) for r, c in zip(rows, columns) if far[r, c] < 1e6]


def at_frame(box: np.ndarray, side: int) -> bool:
    return bool(box.min() < 0.01 or box.max() > side - 0.01)


def holds(outer: np.ndarray, inner: np.ndarray) -> bool:
    return bool((outer[:2] <= inner[:2] + BOX_PX).all() and (outer[2:] >= inner[2:] - BOX_PX).all())


def compare(ours: dict[str, Any], theirs: dict[str, Any], imgsz: int, figures: Figures, name: str) -> None:
    a, b = np.asarray(ours["img"][0], np.int16), theirs["img"].numpy().astype(np.int16)
    if a.shape != b.shape:
        figures.notes.append(f"{name}: shapes {a.shape} and {b.shape}")
        figures.count_mismatches += 1
        return
    difference = np.abs(a - b)
    figures.values += a.size
    figures.level_counts += np.bincount(difference.reshape(-1), minlength=256)
    figures.samples += 1

    our_cls, their_cls = np.asarray(ours["cls"]).reshape(-1), theirs["cls"].numpy().reshape(-1)
    our_px, their_px = corners(ours["bboxes"], imgsz), corners(theirs["bboxes"].numpy(), imgsz)
    polygons = "masks" in theirs
    if polygons:
        cells = np.bincount(theirs["masks"].numpy().reshape(-1), minlength=len(their_cls) + 1)[1:]
        figures.empty_masks += int((cells == 0).sum())
        their_cls, their_px = their_cls[cells > 0], their_px[cells > 0]
    figures.objects += len(their_cls)
    pairs = paired(our_px, their_px, our_cls, their_cls)
    alone = set(range(len(our_cls))) - {i for i, _, _ in pairs}
    for i, j, px in pairs:
        cut = polygons and px > BOX_PX and at_frame(our_px[i], imgsz) and holds(our_px[i], their_px[j])
        (figures.cut_px if cut else figures.box_px).append(float(px))
    if polygons:
        lost = {i for i in alone if at_frame(our_px[i], imgsz)}
        figures.cut_lost += len(lost)
        alone -= lost
    alone_theirs = len(their_cls) - len(pairs)
    if alone or alone_theirs:
        figures.count_mismatches += 1
        figures.unpaired += len(alone) + alone_theirs
        figures.notes.append(f"{name}: {len(alone)} objects alone, {alone_theirs} of the package")
    if "keypoints" in theirs:
        k, r = np.asarray(ours["keypoints"], np.float64), theirs["keypoints"].numpy().astype(np.float64)
        for i, j, _ in pairs:
            seen = (k[i, :, 2] > 0) & (r[j, :, 2] > 0)
            figures.keypoint_px += list(np.abs(k[i, seen, :2] - r[j, seen, :2]).reshape(-1) * imgsz)
            figures.visibility_mismatches += int((k[i, :, 2] != r[j, :, 2]).sum())
    if polygons:
        # Instance numbers depend on ties of the area; where an instance is, does not.
        m, r = np.asarray(ours["masks"][0]) > 0, theirs["masks"][0].numpy() > 0
        figures.mask_values += m.size
        figures.mask_only[0] += int((m & ~r).sum())
        figures.mask_only[1] += int((r & ~m).sum())


def add_hsv_alone(
    ours: dict[str, Any], plain: dict[str, Any], draws: dict[str, Any], hyp: dict[str, Any], figures: Figures
) -> None:
    """The package's HSV on yoload's own pixels: `plain` is the same sample without HSV."""
    from ultralytics.data.augment import RandomHSV

    script = reference.Script()
    reference.script_hsv(script, draws, hyp)
    bgr = np.ascontiguousarray(plain["img"][0][::-1].transpose(1, 2, 0))
    with reference.replaced_random(script.take):
        theirs = RandomHSV(hyp["hsv_h"], hyp["hsv_s"], hyp["hsv_v"])(dict(img=bgr))["img"]
    rgb = theirs.transpose(2, 0, 1)[::-1]
    difference = np.abs(ours["img"][0].astype(np.int16) - rgb)
    figures.hsv_counts += np.bincount(difference.reshape(-1), minlength=256)


def run_case(case: Case, folder: Path, facts: dict[str, Any], imgsz: int, samples: int, seed: int) -> Figures:
    hyp = {**reference.OFF, **case.hyp}
    task = {"square": "detect", "even": "segment"}.get(case.set, case.set)
    package = reference.dataset(folder, {**hyp, "mask_ratio": case.mask_ratio}, imgsz, task, facts, case.augment)
    off = reference.FILTERS_OFF
    figures = Figures()

    def sizes(record: int) -> tuple[int, int]:
        height, width = package.labels[record]["shape"]
        return reference.resized(height, width, imgsz)

    augment = yoload.Augment(**{**yoload.Augment.none().options(), **hyp, **off}) if case.augment else False
    samples = min(samples, len(package))
    entries = reference.drawn(folder / "data.yaml", hyp, imgsz, seed, samples, **off, task=task)
    settings = dict(imgsz=imgsz, batch_size=1, seed=seed, shuffle=True, task=task, output="numpy", workers=1,
                    mask_ratio=case.mask_ratio)  # fmt: skip
    hsv_off = dict(hsv_h=0.0, hsv_s=0.0, hsv_v=0.0)
    with contextlib.ExitStack() as stack:
        loader = stack.enter_context(yoload.Loader(folder / "data.yaml", augment=augment, **settings))
        plain = None
        if case.loose_share == AFTER_RESIZE:
            without = dataclasses.replace(augment, **hsv_off)
            plain = stack.enter_context(yoload.Loader(folder / "data.yaml", augment=without, **settings))
        for i, entry in enumerate(entries):
            ours = loader.replay(0, i)
            record = entry["records"][str(entry["draws"]["position"])]
            if Path(package.im_files[record]).name != Path(ours["im_file"][0]).name:
                raise SystemExit(f"the two sides list the pictures of {folder} in another order")
            script = reference.script_sample(entry, hyp, imgsz, sizes, case.augment)
            theirs = reference.rendered(package, record, script)
            compare(ours, theirs, imgsz, figures, f"sample {i}")
            if plain:
                add_hsv_alone(ours, plain.replay(0, i), entry["draws"], hyp, figures)
    return figures


def verdict(case: Case, f: Figures) -> list[str]:
    """What leaves the bounds."""
    failures = []
    if 1 - f.share_within(1) > case.loose_share:
        failures.append(f"{100 * (1 - f.share_within(1)):.4f} % of the values differ by more than 1 level")
    if 1 - f.hsv_share_within_1() > 0.001:
        failures.append(f"HSV alone: {100 * f.hsv_share_within_1():.4f} % within 1 level")
    if f.count_mismatches or f.unpaired:
        failures.append(f"objects differ in {f.count_mismatches} samples, {f.unpaired} unpaired")
    if f.box_px and max(f.box_px) > case.box_px:
        failures.append(f"a box is {max(f.box_px):.5f} px off")
    if f.keypoint_px and max(f.keypoint_px) > BOX_PX:
        failures.append(f"a keypoint is {max(f.keypoint_px):.5f} px off")
    if f.visibility_mismatches:
        failures.append(f"{f.visibility_mismatches} keypoints differ in visibility")
    return failures


def summary(f: Figures) -> dict[str, Any]:
    levels = np.arange(256)
    box, keypoints = np.array(f.box_px or [0]), np.array(f.keypoint_px or [0])
    return dict(
        samples=f.samples, values=f.values, equal=f.share_within(0), within_1=f.share_within(1),
        within_2=f.share_within(2), hsv_alone_within_1=f.hsv_share_within_1(), largest_level=f.largest_level(),
        mean_level=float((levels * f.level_counts).sum() / f.values), objects=f.objects,
        samples_with_other_objects=f.count_mismatches, unpaired_objects=f.unpaired, box_px_max=float(box.max()),
        cut_polygons=len(f.cut_px), cut_px_max=max(f.cut_px, default=0.0), cut_lost=f.cut_lost,
        empty_masks=f.empty_masks,
        keypoint_px_max=float(keypoints.max()), visibility_mismatches=f.visibility_mismatches,
        mask_only_ours=f.mask_only[0] / max(f.mask_values, 1),
        mask_only_theirs=f.mask_only[1] / max(f.mask_values, 1), notes=f.notes,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shared", type=Path)
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--out", help="JSON")
    args = parser.parse_args()
    results: dict[str, Any] = {}
    print("| case | values equal | within 1 level | largest | objects | largest box difference, px | holds |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        folders = sets(args.shared, Path(root), args.imgsz)
        for name in args.case:
            case = CASES[name]
            figures = run_case(case, *folders[case.set], args.imgsz, args.samples, args.seed)
            s, failures = summary(figures), verdict(case, figures)
            results[name] = {**s, "failures": failures}
            alone = f" (HSV alone {100 * s['hsv_alone_within_1']:.4f} %)" if figures.hsv_counts.any() else ""
            print(
                f"| {name} | {100 * s['equal']:.3f} % | {100 * s['within_1']:.4f} %{alone} | {s['largest_level']} | "
                f"{s['objects']} | {s['box_px_max']:.5f} | {'; '.join(failures) or 'yes'} |", flush=True,
            )  # fmt: skip
    if args.out:
        Path(args.out).write_text(json.dumps(results, indent=1))
    sys.exit(any(r["failures"] for r in results.values()))


if __name__ == "__main__":
    main()
