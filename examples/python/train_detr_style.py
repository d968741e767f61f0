#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torchvision's detection models trained from collate="detr": lists of pictures and target dicts.

    python train_detr_style.py data.yaml --steps 100
"""

from __future__ import annotations

import argparse

import torch
import yoload
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--imgsz", type=int, default=320)
    parser.add_argument("--batch", type=int, default=8)
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    # Floats in 0..1 are this layout's default. A mosaic would only make it harder to see it learn.
    loader = yoload.Loader(
        args.data, imgsz=args.imgsz, batch_size=args.batch, collate="detr",
        augment=yoload.Augment(mosaic=0.0),
    )  # fmt: skip
    model = fasterrcnn_mobilenet_v3_large_320_fpn(
        weights=None, weights_backbone=None, num_classes=loader.nc + 1,
        min_size=args.imgsz, max_size=args.imgsz,
    ).to(device)  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    step = 0
    with loader:
        while step < args.steps:
            for images, targets in loader:
                if step == args.steps:
                    break
                images = [image.to(device, non_blocking=True) for image in images]
                # These models count classes from 1: 0 is the background. A picture without objects
                # needs no care: its boxes are (0, 4), which they take. Boxes without area, which
                # they refuse, do not come: the default box_filter drops those of 2 px or less.
                wanted = [
                    {"boxes": t["boxes"].to(device), "labels": t["labels"].to(device) + 1}
                    for t in targets
                ]
                loss = sum(model(images, wanted).values())
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
                optimizer.step()
                print(f"step {step}: loss {float(loss.detach()):.4f}", flush=True)
                step += 1


if __name__ == "__main__":
    main()
