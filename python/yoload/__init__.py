# SPDX-License-Identifier: Apache-2.0
"""yoload: a data supply engine for training YOLO-family detectors.

>>> import yoload
>>> with yoload.Loader("coco128.yaml", imgsz=640, batch_size=16) as loader:
...     for batch in loader:
...         print(batch["img"].shape)  # (16, 3, 640, 640) uint8

``Loader`` iterates over finished batches, ``Dataset.from_records`` takes labels of any origin,
``decode``, ``augment`` and ``show`` serve notebooks. ``yoload.ultralytics`` has trainers that feed
Ultralytics' training from here.
"""

from ._native import version as _version
from .augment import Augment
from .batch import Batch
from .dataset import Dataset
from .errors import Closed, DataWarning, Error
from .loader import Loader, Report, option_table
from .picture import Augmented, Grid, augment, decode, decode_many, show  # noqa: F811 (the function)

__version__ = _version()

__all__ = [
    "Augment",
    "Augmented",
    "Batch",
    "Closed",
    "DataWarning",
    "Dataset",
    "Error",
    "Grid",
    "Loader",
    "Report",
    "augment",
    "decode",
    "decode_many",
    "option_table",
    "show",
]
