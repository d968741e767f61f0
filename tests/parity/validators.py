#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One checkpoint through both validators: is mAP the same?

    validators.py DATA.yaml --model yolov8n.yaml --epochs 30 --imgsz 640 --out result.json

Trains with the package's own loader, or takes weights (--model last.pt --epochs 0). Exit 1 where mAP50-95
differs by more than 0.001.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import ultralytics.engine.trainer as engine
from ultralytics import YOLO
from ultralytics.models.yolo.detect import DetectionTrainer, DetectionValidator

from yoload.ultralytics import DetectionValidator as FedValidator


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--model", default="yolov8n.yaml")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--device", default="0")
    parser.add_argument("--work", default="/tmp/parity_validators")
    parser.add_argument("--out")
    args = parser.parse_args()
    common = dict(data=args.data, imgsz=args.imgsz, device=args.device, plots=False, verbose=False,
                  project=args.work, exist_ok=True)  # fmt: skip
    weights = args.model
    if args.epochs:
        engine.check_amp = lambda model: True  # it downloads a model otherwise
        YOLO(args.model).train(trainer=DetectionTrainer, epochs=args.epochs, val=False, name="train", **common)
        weights = str(Path(args.work) / "train" / "weights" / "last.pt")
    results = {}
    for rect in (True, False):
        for side, validator in (("ultralytics", DetectionValidator), ("yoload", FedValidator)):
            metrics = YOLO(weights).val(validator=validator, rect=rect, name="val", **common)
            results[f"{side}, rect={rect}"] = {"map": metrics.box.map, "map50": metrics.box.map50}
    for name, values in results.items():
        print(f"{name}: mAP50-95 {values['map']:.5f}, mAP50 {values['map50']:.5f}")
    if args.out:
        Path(args.out).write_text(json.dumps(results, indent=1))
    same = [
        abs(results[f"yoload, rect={rect}"]["map"] - results[f"ultralytics, rect={rect}"]["map"]) <= 0.001
        for rect in (True, False)
    ]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
