#!/usr/bin/env python3
"""Writes cv2_reference.tsv: what cv2.imread(IMREAD_COLOR) sees at five points of each picture.

Usage: cv2_reference.py FOLDER > cv2_reference.tsv, with the folder of torture images.
Columns: file, width, height, then x,y,r,g,b five times.
"""
# SPDX-License-Identifier: Apache-2.0
import csv
import pathlib
import sys

import cv2

folder = pathlib.Path(sys.argv[1])
print(f"# cv2 {cv2.__version__}")
with open(folder / "MANIFEST.tsv", encoding="utf-8") as manifest:
    for row in csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["verdict"] != "decode":
            continue
        picture = cv2.imread(str(folder / row["file"]), cv2.IMREAD_COLOR)
        if picture is None:
            continue
        height, width = picture.shape[:2]
        fields = [row["file"], str(width), str(height)]
        for fx, fy in ((0, 0), (0.5, 0.5), (0.9, 0.1), (0.1, 0.8), (0.99, 0.99)):
            x, y = int(fx * (width - 1)), int(fy * (height - 1))
            blue, green, red = picture[y, x]
            fields.append(f"{x},{y},{red},{green},{blue}")
        print("\t".join(fields))
