#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plain PyTorch loop with YOLOv5's targets: (n, 6) of picture, class, x, y, w, h.

    python train_yolov5_style.py data.yaml --epochs 20

The network is a toy (a heat map and a box per cell); the loop around it is what matters: set_epoch,
a checkpoint after every epoch from which training goes on as if it had not stopped, and the
loader's own report at the end.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import yoload
from torch import nn
from torch.nn import functional


class TinyDetector(nn.Module):
    """(B, 3, H, W) in 0..1 -> (B, nc + 4, H / 16, W / 16).

    Per cell: class scores, then x y w h of its box.
    """

    def __init__(self, nc: int) -> None:
        super().__init__()
        widths = (3, 16, 32, 48, 64)
        layers: list[nn.Module] = []
        for inner, outer in zip(widths, widths[1:]):
            layers += [nn.Conv2d(inner, outer, 3, 2, 1), nn.BatchNorm2d(outer), nn.SiLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(widths[-1], nc + 4, 1))
        self.nc = nc
        bias = self.layers[-1].bias
        assert isinstance(bias, torch.Tensor)
        with torch.no_grad():
            bias[:nc] = -3.0  # objects are rare

    def forward(self, img: torch.Tensor) -> torch.Tensor:
        return self.layers(img)


def loss_of(out: torch.Tensor, targets: torch.Tensor, nc: int) -> torch.Tensor:
    """Each object belongs to the cell of its centre."""
    _, _, rows, columns = out.shape
    picture, cls = targets[:, 0].long(), targets[:, 1].long()
    column = (targets[:, 2] * columns).long().clamp(0, columns - 1)
    row = (targets[:, 3] * rows).long().clamp(0, rows - 1)
    wanted = torch.zeros_like(out[:, :nc])
    wanted[picture, cls, row, column] = 1
    scores = functional.binary_cross_entropy_with_logits(out[:, :nc], wanted, reduction="sum")
    boxes = out[picture, nc:, row, column].sigmoid()
    place = torch.stack([targets[:, 2] * columns - column, targets[:, 3] * rows - row], 1)
    geometry = (boxes - torch.cat([place, targets[:, 4:]], 1)).abs().sum()
    return (scores + geometry) / max(len(targets), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--checkpoint", type=Path, help="resume from it, and write to it")
    args = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    loader = yoload.Loader(
        args.data, imgsz=args.imgsz, batch_size=args.batch, epochs=args.epochs, collate="yolov5"
    )
    model = TinyDetector(loader.nc).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    if args.checkpoint and args.checkpoint.exists():
        saved = torch.load(args.checkpoint, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        loader.load_state_dict(saved["loader"])  # a few integers: seed, epoch, sample
    with loader:
        for epoch in range(loader.epoch, args.epochs):
            loader.set_epoch(epoch)
            total = 0.0
            for img, targets, _paths, _shapes in loader:
                img = img.to(device, non_blocking=True).float() / 255
                loss = loss_of(model(img), targets.to(device, non_blocking=True), loader.nc)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += float(loss.detach())
            print(f"epoch {epoch}: loss {total / len(loader):.4f}", flush=True)
            if args.checkpoint:
                state = {
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "loader": loader.state_dict(),
                }
                torch.save(state, args.checkpoint)
        print(loader.report())


if __name__ == "__main__":
    main()
