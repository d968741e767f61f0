# SPDX-License-Identifier: Apache-2.0
"""A Loader in the shape that Ultralytics' trainers and validators expect of theirs.

What they touch beyond iteration was recorded by running them against a proxy
(python/tests/test_contract.py) and is all that is here.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence

import ctypes

import numpy as np

from .. import _native
from .._memory import as_buffer
from ..errors import DataWarning
from ..loader import Loader
from . import settings


class Labels(Sequence[Any]):
    """Labels of all pictures: a dict with cls (n, 1) and bboxes (n, 4) each, made when asked for."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        with loader._engine as handle:
            self._count = int(_native.lib.yoload_record_count(handle))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        record = self._record(index)
        rows = np.zeros((0, 5), np.float32)
        with self._loader._engine as handle:
            if record.rows:
                start = _native.lib.yoload_rows(handle) + 20 * record.first_row
                memory = (ctypes.c_float * (5 * record.rows)).from_address(start)
                rows = np.frombuffer(as_buffer(memory), np.float32).reshape(-1, 5).copy()
        return {
            "im_file": self.im_file(index),
            "shape": (record.height_px, record.width_px),
            "cls": rows[:, :1],
            "bboxes": rows[:, 1:],
            "segments": [],
            "keypoints": None,
            "normalized": True,
            "bbox_format": "xywh",
        }


    def im_file(self, index: int) -> str:
        with self._loader._engine as handle:
            return _native.take_text(_native.lib.yoload_path(handle, index))

    def shape(self, index: int) -> tuple[int, int]:
        record = self._record(index)
        return record.height_px, record.width_px

    def _record(self, index: int) -> _native.CRecord:
        record = _native.CRecord()
        with self._loader._engine as handle:
            _native.check(_native.lib.yoload_get_record(handle, index, ctypes.byref(record)))
        return record


class SuppliedDataset:
    """What trainers ask of ``loader.dataset``."""

    def __init__(self, supply: SuppliedLoader, data: Mapping[str, Any]) -> None:
        self._supply = supply
        self.data = data

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def labels(self) -> Labels:
        return Labels(self._supply.loader)

    @property
    def im_files(self) -> list[str]:
        labels = self.labels
        return [labels.im_file(i) for i in range(len(labels))]

    def close_mosaic(self, hyp: Any) -> None:
        self._supply.close_mosaic()


class SuppliedSampler:
    """What trainers ask of ``loader.sampler``."""

    def __init__(self, supply: SuppliedLoader) -> None:
        self._supply = supply

    def __len__(self) -> int:
        return self._supply.loader.images_per_epoch

    def __iter__(self) -> Iterator[int]:
        for sample in range(len(self)):
            with self._supply.loader._engine as handle:
                yield int(_native.lib.yoload_position(handle, sample))

    def set_epoch(self, epoch: int) -> None:
        self._supply.loader.set_epoch(epoch)


class SuppliedLoader:
    """Iterates like the package's loader; batches come from a :class:`yoload.Loader`.

    Parameters
    ----------
    options : mapping
        Arguments of Loader.
    data : mapping
        The trainer's data dict.
    epoch_of : callable, optional
        The trainer's present epoch; without it epochs follow each other.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        data: Mapping[str, Any],
        epoch_of: Callable[[], int | None] | None = None,
    ) -> None:
        self._options = dict(options)
        self._epoch_of = epoch_of
        self.loader = self._open()
        self.dataset = SuppliedDataset(self, data)
        self.sampler = SuppliedSampler(self)
        self.batch_size = self.loader.batch_size
        self.num_workers = int(self.loader.report()["threads"])
        self.drop_last = bool(self._options.get("drop_last", False))

    @property
    def on_gpu(self) -> bool:
        """Batches are made on a GPU."""
        return self.loader._gpu is not None

    def _open(self) -> Loader:
        return Loader(**self._options)

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        # Nothing is started before the first batch is asked for: trainers make iterators that they
        # drop, and may close the mosaic between making and using one.
        epoch = self._epoch_of() if self._epoch_of is not None else None
        if epoch is not None:
            self.loader.set_epoch(epoch)
        yield from self.loader

    def close_mosaic(self) -> None:
        """No mosaic, mixup, cutmix and copy-paste from now on."""
        augment = self._options.get("augment")
        if not isinstance(augment, dict):
            return
        close, planned = augment["close_mosaic"], self._options.get("epochs", 0)
        epoch = self._epoch_of() if self._epoch_of is not None else None
        if epoch is not None and 0 < close and 0 < planned and epoch >= planned - close:
            return  # the engine knew, and has prepared the epoch so
        mixers = ("mosaic", "mixup", "cutmix", "copy_paste")
        if not any(augment.get(name) for name in mixers):
            return
        self._options["augment"] = {**augment, **dict.fromkeys(mixers, 0.0)}
        self.loader.close()
        self.loader = self._open()

    def reset(self) -> None:
        """The package restarts its workers here; there is nothing to restart."""

    def close(self) -> None:
        self.loader.close()


def rect_order(labels: Labels) -> list[int]:
    """The order by aspect ratio as numpy sorts it, which the package uses; [] if that is ours.

    Pictures of equal ratio come in an order that numpy's sort does not promise.
    """
    shapes = np.array([labels.shape(i) for i in range(len(labels))], np.float64)
    ratios = shapes[:, 0] / shapes[:, 1]
    order = ratios.argsort()
    stable = ratios.argsort(kind="stable")
    return [] if np.array_equal(order, stable) else [int(i) for i in order]


_said: set[str] = set()


def say_once(message: str, stacklevel: int = 4) -> None:
    if message not in _said:
        _said.add(message)
        warnings.warn(message, DataWarning, stacklevel=stacklevel)


def leave_to_package(reason: str) -> None:
    """Says that the package's own loader is used, and why."""
    say_once(f"yoload leaves this to the package's own loader: {reason}", stacklevel=5)


def defined(bases: tuple[type, ...], name: str) -> Any:
    """The function of that name that the first of the classes has that has one."""
    return next(vars(base)[name] for base in bases if name in vars(base))


def supply(
    *,
    args: Any,
    data: Mapping[str, Any],
    task: str,
    path: Any,
    batch_size: int,
    rank: int,
    train: bool,
    stride: int,
    stretch: bool = False,
    rect: bool | None = None,
    epochs: int = 0,
    epoch_of: Callable[[], int | None] | None = None,
    device: Any = "cpu",
    dtype: str = "uint8",
) -> SuppliedLoader | None:
    """A loader for these arguments; None, having said why, where the package's own has to do.

    ``dtype`` is that of batches made on a GPU; bytes are what copies best to one.
    """
    reasons = settings.cannot_reproduce(args, task, train)
    if reasons:
        leave_to_package(", ".join(reasons))
        return None
    options: dict[str, Any] = {
        "data": str(path) if task == "classify" else settings.data_file(data, path),
        "task": task,
        "imgsz": int(args.imgsz),
        "batch_size": int(batch_size),
        "seed": int(getattr(args, "seed", 0) or 0),
        "workers": settings.workers(args),
        "classes": settings.classes(args),
        "single_cls": bool(getattr(args, "single_cls", False)),
        "fraction": float(getattr(args, "fraction", 1.0)) if train else 1.0,
        "mask_ratio": int(getattr(args, "mask_ratio", 4)),
        "overlap_mask": bool(getattr(args, "overlap_mask", True)),
        "stride": stride,
        "epochs": epochs if train else 1,
        "augment": settings.augment_options(args, task) if train else False,
        "output": "torch",
        "device": settings.device(device),
    }
    if task != "classify":
        if rect is None:  # a trainer's: its validation is rectangular whatever it says
            rect = bool(getattr(args, "rect", False)) or not train
        options["rect"] = rect and not stretch
        options["rect_pad"] = 0.0 if train else 0.5
    if stretch:
        options["resize"] = "stretch"
    if train and getattr(args, "compile", False):
        options["drop_last"] = True
    if rank < 0:
        options.update(rank=0, world_size=1)
    mode, warning = settings.cache_mode(args)
    options["cache"] = mode
    if warning:
        say_once(warning)
    if task != "classify" and options["device"] != "cpu":
        options["dtype"] = dtype
    wanted = settings.overrides()
    options.update(wanted)
    loader = SuppliedLoader(options, data, epoch_of)
    if not loader.on_gpu and options.get("dtype", "uint8") != "uint8" and "dtype" not in wanted:
        options["dtype"] = "uint8"
        loader.close()
        loader = SuppliedLoader(options, data, epoch_of)
    siblings = settings.npy_siblings(loader.dataset.im_files)
    if siblings:
        loader.close()
        leave_to_package(f"{siblings} pictures have a .npy beside them, which it reads instead")
        return None
    order = rect_order(loader.dataset.labels) if options.get("rect") else []
    if order:
        loader.close()
        loader = SuppliedLoader({**options, "rect_order": order}, data, epoch_of)
    return loader
