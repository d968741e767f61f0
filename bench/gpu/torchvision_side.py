#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is measured: torchvision on the GPU: decode_jpeg(device="cuda") of a batch from memory, resize and pad to the
square, fp16. No mosaic, no augmentation, no labels."""

import argparse
import json
import pathlib
import random
import time

import torch
import torchvision
from torch.nn.functional import interpolate, pad
from torchvision.io import ImageReadMode, decode_jpeg


def square(image: torch.Tensor, imgsz: int) -> torch.Tensor:
    height, width = image.shape[1:]
    scale = imgsz / max(height, width)
    image = image[None].half()
    if scale != 1:
        size = (round(height * scale), round(width * scale))
        image = interpolate(image, size, mode="bilinear")
    height, width = image.shape[2:]
    return pad(image, (0, imgsz - width, 0, imgsz - height), value=114)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    files = [torchvision.io.read_file(str(path)) for path in sorted(args.images.glob("*.jpg"))]
    batches = len(files) // args.batch

    def epoch() -> None:
        random.shuffle(files)
        for i in range(batches):
            batch = files[i * args.batch : (i + 1) * args.batch]
            images = decode_jpeg(batch, mode=ImageReadMode.RGB, device="cuda")
            torch.cat([square(image, args.imgsz) for image in images])

    epoch()
    torch.cuda.synchronize()
    start = time.monotonic()
    for _ in range(args.epochs):
        epoch()
    torch.cuda.synchronize()
    wall = time.monotonic() - start
    images = args.epochs * batches * args.batch
    print(json.dumps({"images_per_s": images / wall, "images": images, "version": torchvision.__version__}))


if __name__ == "__main__":
    main()
