# SPDX-License-Identifier: Apache-2.0
"""Boxes of the reference's RandomPerspective for given draws, to compare with WarpObjects by hand.

    python tests/parity/warp_boxes.py [seed]

Prints a line per case: the eight draws as they came from `random`, then the kept boxes (xyxy, px) and
what this project's rules, restated in numpy, give for the same draws; exits 1 where they differ by
more than 0.02 px.
"""
import random
import sys

import numpy as np
from ultralytics.data.augment import RandomPerspective
from ultralytics.utils.instance import Instances

SIDE_PX = 320
HYP = dict(degrees=10.0, translate=0.1, scale=0.5, shear=3.0, perspective=0.0003)


def own_matrix(draws):
    p20, p21, degrees, scale, shear_x, shear_y, shift_x, shift_y = draws
    a = np.deg2rad(degrees)
    centre = np.array([[1, 0, -SIDE_PX / 2], [0, 1, -SIDE_PX / 2], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, 1, 0], [p20, p21, 1]])
    c, s = scale * np.cos(a), scale * np.sin(a)
    rotate = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    shear = np.array([[1, np.tan(np.deg2rad(shear_x)), 0], [np.tan(np.deg2rad(shear_y)), 1, 0], [0, 0, 1]])
    shift = np.array([[1, 0, shift_x * SIDE_PX], [0, 1, shift_y * SIDE_PX], [0, 0, 1]])
    return (shift @ shear @ rotate @ tilt @ centre).astype(np.float32)


def own_boxes(matrix, scale, boxes):
    kept = []
    for x0, y0, x1, y1 in boxes:
        p = matrix.astype(float) @ np.array([[x0, x1, x1, x0], [y0, y0, y1, y1], [1, 1, 1, 1]])
        x, y = (p[:2] / p[2]).clip(0, SIDE_PX)
        w, h = x.max() - x.min(), y.max() - y.min()
        share = w * h / ((x1 - x0) * (y1 - y0) * scale**2)
        if w > 2 and h > 2 and share > 0.1 and max(w / h, h / w) < 100:
            kept.append((x.min(), y.min(), x.max(), y.max()))
    return np.array(kept).reshape(-1, 4)


worst, rng = 0.0, np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
for case in range(200):
    low = rng.random((6, 2)) * SIDE_PX * 0.8
    boxes = np.concatenate([low, (low + 3 + rng.random((6, 2)) * 150).clip(0, SIDE_PX)], 1).astype(np.float32)
    spans = [(-HYP["perspective"], HYP["perspective"])] * 2 + [(-HYP["degrees"], HYP["degrees"])]
    spans += [(1 - HYP["scale"], 1 + HYP["scale"])] + [(-HYP["shear"], HYP["shear"])] * 2
    spans += [(0.5 - HYP["translate"], 0.5 + HYP["translate"])] * 2
    random.seed(case)
    draws = [random.uniform(*span) for span in spans]
    random.seed(case)
    sample = RandomPerspective(**HYP)(
        dict(
            img=np.zeros((SIDE_PX, SIDE_PX, 3), np.uint8),
            cls=np.zeros((6, 1), np.float32),
            instances=Instances(boxes.copy(), np.zeros((0, 1000, 2), np.float32), None, "xyxy", False),
        )
    )
    sample["instances"].convert_bbox("xyxy")
    theirs, ours = sample["instances"].bboxes, own_boxes(own_matrix(draws), draws[3], boxes)
    if theirs.shape != ours.shape:
        print(f"case {case}: {len(theirs)} boxes kept, not {len(ours)}")
        worst = np.inf
    elif len(ours):
        worst = max(worst, float(np.abs(theirs - ours).max()))
print(f"largest difference {worst:.4f} px")
sys.exit(worst > 0.02)
