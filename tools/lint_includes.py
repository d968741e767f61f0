#!/usr/bin/env python3
"""Checks that a stage includes core, metrics, device and the public headers, and no other stage.

Only `pipeline` may name other stages. Tests follow the same rule.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

SHARED = {"core", "metrics", "device"}
STAGES = {"dataset", "sampler", "storage", "cache", "decode", "augment", "batch", "transfer", "pipeline",
          "tune", "doctor"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z_]+)/', re.MULTILINE)


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent / "src"
    wrong = 0
    for path in sorted(root.rglob("*")):
        if path.suffix not in {".h", ".cpp", ".cu", ".cuh"}:
            continue
        own = path.relative_to(root).parts[0]
        if own in {"pipeline", "capi"}:  # the wiring, and what stands above it
            continue
        allowed = {own, "yoload"} | (set() if own == "core" else SHARED)
        for folder in INCLUDE.findall(path.read_text()):
            if folder in STAGES | SHARED and folder not in allowed:
                print(f"{path.relative_to(root.parent)}: includes {folder}/, a stage may not")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
