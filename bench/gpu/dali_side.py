#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is measured: a DALI pipeline on the GPU, fed with JPEG bytes from memory.

Mixed decode, resize to the longest side, mosaic of four pictures (the batch itself and three permutations of it,
so every picture is decoded once), affine warp, HSV, flip, fp16 in channel order. No labels.
"""

import argparse
import json
import pathlib
import time

import numpy as np
import nvidia.dali
from nvidia.dali import fn, pipeline_def, types


@pipeline_def
def training(files, imgsz, batch, hw_load):
    jpegs = fn.external_source(source=files, batch=True, dtype=types.UINT8, no_copy=True)
    images = fn.decoders.image(jpegs, device="mixed", output_type=types.RGB, hw_decoder_load=hw_load)
    images = fn.resize(images, size=(imgsz, imgsz), mode="not_larger")
    images = fn.crop(images, crop=(imgsz, imgsz), out_of_bounds_policy="pad", fill_values=114)
    others = [fn.permute_batch(images, indices=fn.batch_permutation()) for _ in range(3)]
    top = fn.cat(images, others[0], axis=1)
    bottom = fn.cat(others[1], others[2], axis=1)
    mosaic = fn.cat(top, bottom, axis=0)
    scale = fn.random.uniform(range=(0.5, 1.5))
    shift = fn.random.uniform(range=(-0.1, 0.1), shape=2)
    matrix = fn.transforms.combine(
        fn.transforms.translation(offset=np.array([-imgsz, -imgsz], np.float32)),
        fn.transforms.scale(scale=fn.stack(scale, scale)),
        fn.transforms.translation(offset=shift * imgsz + imgsz / 2),
    )
    images = fn.warp_affine(mosaic, matrix, size=(imgsz, imgsz), fill_value=114, inverse_map=False)
    images = fn.hsv(
        images,
        hue=fn.random.uniform(range=(-2.7, 2.7)),
        saturation=fn.random.uniform(range=(0.3, 1.7)),
        value=fn.random.uniform(range=(0.6, 1.4)),
    )
    return fn.crop_mirror_normalize(
        images, dtype=types.FLOAT16, output_layout="CHW", mirror=fn.random.coin_flip(), std=[255.0] * 3
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", type=pathlib.Path)
    parser.add_argument("--imgsz", type=int, default=640)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--no-engines", action="store_true")
    args = parser.parse_args()
    files = [np.fromfile(path, np.uint8) for path in sorted(args.images.glob("*.jpg"))]
    batches = len(files) // args.batch
    order = np.random.default_rng(0)

    def source():
        while True:
            shuffled = order.permutation(len(files))
            for i in range(batches):
                yield [files[k] for k in shuffled[i * args.batch : (i + 1) * args.batch]]

    pipeline = training(
        source(), args.imgsz, args.batch, 0.0 if args.no_engines else 1.0,
        batch_size=args.batch, num_threads=args.threads, device_id=0, prefetch_queue_depth=3,
    )  # fmt: skip
    pipeline.build()
    for _ in range(2 * batches):
        pipeline.run()
    start = time.monotonic()
    for _ in range(args.epochs * batches):
        pipeline.run()
    wall = time.monotonic() - start
    images = args.epochs * batches * args.batch
    print(json.dumps({"images_per_s": images / wall, "images": images, "version": nvidia.dali.__version__}))


if __name__ == "__main__":
    main()
