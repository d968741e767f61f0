# SPDX-License-Identifier: Apache-2.0
"""Writes random polygons with the reference's masks, for mask_test's AgreesWithTheReference.

    python tests/parity/mask_cases.py cases.txt && YOLOAD_MASK_CASES=cases.txt augment_test

One line a case: mask_ratio, point count, x y ..., row count, rows of 0/1.
"""
import sys

import numpy as np
from ultralytics.data.utils import polygon2mask

SIDE_PX = 64
rng = np.random.default_rng(3)
with open(sys.argv[1], "w", encoding="ascii") as out:
    for _ in range(40):
        points = (rng.random((int(rng.integers(3, 9)), 2)) * 70 - 3).clip(0, SIDE_PX).round(1)
        for ratio in (1, 2, 3, 4):
            mask = polygon2mask((SIDE_PX, SIDE_PX), [points.reshape(-1)], color=1, downsample_ratio=ratio)
            rows = ["".join(map(str, row)) for row in mask]
            print(ratio, len(points), *points.reshape(-1), len(rows), *rows, file=out)
