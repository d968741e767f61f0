# SPDX-License-Identifier: Apache-2.0
"""Trainers that take their batches from yoload."""

from __future__ import annotations

from typing import Any

from ultralytics.models import yolo
from ultralytics.models.rtdetr.train import RTDETRTrainer
from ultralytics.utils import LOGGER

from . import settings
from .supply import SuppliedLoader, defined, leave_to_package, supply

# The trainers whose pictures we know how to make: the function that builds their data set, and
# whether pictures are stretched to the square.
_KNOWN = {
    yolo.detect.DetectionTrainer.build_dataset: False,
    yolo.classify.ClassificationTrainer.build_dataset: False,
    RTDETRTrainer.build_dataset: True,
}
_KNOWN_LOADERS = (
    yolo.detect.DetectionTrainer.get_dataloader,
    yolo.classify.ClassificationTrainer.get_dataloader,
)


# Its `.float() / 255` is all that stands between finished pictures and the model.
_KNOWN_PREPROCESSING = yolo.detect.DetectionTrainer.preprocess_batch


class Finished:
    """Scaled pictures that answer the package's ``.float() / 255`` with themselves."""

    def __init__(self, img: Any) -> None:
        self._img = img

    def float(self) -> Finished:
        return self

    def __truediv__(self, levels: int) -> Any:
        if levels != 255:
            raise TypeError(f"pictures divided by {levels}, expected 255")
        return self._img


class _Supplied:
    """Mixed in before a trainer of the package: replaces its loaders."""

    _scaled = False  # training batches come as floats from 0 to 1

    def preprocess_batch(self, batch: Any) -> Any:
        """The package's, which leaves pictures alone that the engine has scaled."""
        parent: Any = super()
        img = batch["img"]
        if self._scaled and img.is_floating_point():
            trainer: Any = self
            batch["img"] = Finished(img.to(trainer.device, non_blocking=True))
        return parent.preprocess_batch(batch)

    def get_dataloader(
        self, dataset_path: Any, batch_size: int = 16, rank: int = 0, mode: str = "train"
    ) -> Any:
        """A loader for ``mode`` "train" or "val" from yoload, or the package's own."""
        trainer: Any = self
        loader = _supply_for(trainer, dataset_path, batch_size, rank, mode)
        if loader is None:
            parent: Any = super()
            return parent.get_dataloader(dataset_path, batch_size=batch_size, rank=rank, mode=mode)
        LOGGER.info(
            f"yoload: {mode}: {len(loader.dataset)} images, {loader.num_workers} threads, "
            f"batches of {loader.batch_size}"
        )
        if mode == "train":
            self._scaled = defined(_below(type(self)), "preprocess_batch") is _KNOWN_PREPROCESSING
        return loader


def _below(kind: type) -> tuple[type, ...]:
    """The classes that a trainer had before it was fed by us."""
    return kind.__mro__[kind.__mro__.index(_Supplied) + 1 :]


def _supply_for(
    trainer: Any, path: Any, batch_size: int, rank: int, mode: str
) -> SuppliedLoader | None:
    kind = type(trainer)
    package = next(base for base in kind.__mro__ if base.__module__.startswith("ultralytics."))
    # A user's own class may build its own data set; then its pictures are not for us to make.
    builder = defined(kind.__mro__, "build_dataset")
    # An override of get_dataloader that asks its parent has come here; one below us is passed by.
    below = _below(kind)
    if builder not in _KNOWN or defined(below, "get_dataloader") not in _KNOWN_LOADERS:
        leave_to_package(f"{kind.__name__} ({package.__name__}) builds its own data set")
        return None
    train = mode == "train"
    task = trainer.args.task
    model = getattr(trainer.model, "module", trainer.model)
    stride = max(int(model.stride.max()) if hasattr(model, "stride") else 0, 32)
    # A preprocess_batch of the user's, above us or below, is written for bytes.
    usual = (
        defined(kind.__mro__, "preprocess_batch") is _Supplied.preprocess_batch
        and defined(below, "preprocess_batch") is _KNOWN_PREPROCESSING
    )
    dtype = settings.batch_dtype(trainer.args, getattr(trainer, "amp", False))
    return supply(
        args=trainer.args,
        data=trainer.data,
        task=task,
        path=path,
        batch_size=batch_size,
        rank=rank,
        train=train,
        stride=stride,
        stretch=_KNOWN[builder],
        epochs=int(trainer.epochs),
        epoch_of=(lambda: getattr(trainer, "epoch", None)) if train else None,
        device=trainer.device,
        dtype=dtype if train and usual else "uint8",
    )


class DetectionTrainer(_Supplied, yolo.detect.DetectionTrainer):
    """``ultralytics.models.yolo.detect.DetectionTrainer``, fed by yoload."""


class SegmentationTrainer(_Supplied, yolo.segment.SegmentationTrainer):
    """``ultralytics.models.yolo.segment.SegmentationTrainer``, fed by yoload."""


class PoseTrainer(_Supplied, yolo.pose.PoseTrainer):
    """``ultralytics.models.yolo.pose.PoseTrainer``, fed by yoload."""


class OBBTrainer(_Supplied, yolo.obb.OBBTrainer):
    """``ultralytics.models.yolo.obb.OBBTrainer``, fed by yoload."""


class ClassificationTrainer(_Supplied, yolo.classify.ClassificationTrainer):
    """``ultralytics.models.yolo.classify.ClassificationTrainer``, fed by yoload.

    With ``auto_augment=None``; the automatic policies are left to the package's own loader.
    """


TRAINERS: dict[str, type] = {
    "detect": DetectionTrainer,
    "segment": SegmentationTrainer,
    "pose": PoseTrainer,
    "obb": OBBTrainer,
    "classify": ClassificationTrainer,
}
"""By task."""


def accelerate(trainer: type) -> type:
    """The same trainer, fed by yoload: for RT-DETR, World, YOLOE, or a class of your own.

    A trainer that builds its own kind of data set (``build_dataset`` overridden) keeps the package's
    loader, and says so.

    Parameters
    ----------
    trainer : type
        A subclass of Ultralytics' BaseTrainer. For training on several devices it must be possible
        to import it by name.

    Examples
    --------
    >>> from ultralytics import RTDETR
    >>> from ultralytics.models.rtdetr import RTDETRTrainer
    >>> RTDETR("rtdetr-l.yaml").train(data="coco128.yaml", trainer=accelerate(RTDETRTrainer))
    """
    from ultralytics.engine.trainer import BaseTrainer

    if not (isinstance(trainer, type) and issubclass(trainer, BaseTrainer)):
        raise TypeError(f"accelerate({trainer!r}): expected a trainer class of ultralytics")
    if issubclass(trainer, _Supplied):
        return trainer
    from . import accelerated

    return accelerated.make(_Supplied, trainer)
