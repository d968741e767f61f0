"""What is measured: an SPDL pipeline: decode with FFmpeg, letterbox to a square, batch. Nothing else: no mosaic, no
augmentation, no labels; the batches are (N, H, W, C) arrays over SPDL's own memory.

The workers are threads, each with a batch of its own, as SPDL's documentation shows for pictures; Debian's
FFmpeg libraries do the work. Arguments and output: side.py.
SPDX-License-Identifier: Apache-2.0
"""
import importlib.metadata
import random
from collections.abc import Iterator

import numpy
import side
import spdl.io
from spdl.pipeline import Pipeline, PipelineBuilder


class Shuffled:
    """All paths, in another order each time it is iterated."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths

    def __iter__(self) -> Iterator[str]:
        return iter(random.sample(self.paths, len(self.paths)))


def letterboxed(paths: list[str], imgsz: int, batch: int, workers: int) -> Pipeline:
    # The default is bicubic; every other side is bilinear. The description also pads to the square.
    filters = spdl.io.get_video_filter_desc(scale_width=imgsz, scale_height=imgsz, scale_algo="bilinear",
                                            pix_fmt="rgb24")

    def load(chosen: list[str]) -> numpy.ndarray:
        return spdl.io.to_numpy(spdl.io.load_image_batch(chosen, width=None, height=None, filter_desc=filters))

    return (PipelineBuilder().add_source(Shuffled(paths), continuous=True).aggregate(batch)
            .pipe(load, concurrency=workers).add_sink(3).build(num_threads=workers))


def main() -> None:
    arguments = side.arguments(__doc__)
    pipeline = letterboxed(side.photographs(arguments.data), arguments.imgsz, arguments.batch, arguments.workers)
    with pipeline.auto_stop():
        side.report(lambda: sum(len(batch) for batch in pipeline), arguments.epochs,
                    importlib.metadata.version("spdl"))


if __name__ == "__main__":
    main()
