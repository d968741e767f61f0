# SPDX-License-Identifier: Apache-2.0
"""Validators that take their batches from yoload: ``model.val(validator=DetectionValidator)``."""

from __future__ import annotations

from typing import Any

from ultralytics.models import yolo
from ultralytics.models.rtdetr.val import RTDETRValidator

from .supply import defined, leave_to_package, supply

_KNOWN = {
    yolo.detect.DetectionValidator.build_dataset: False,
    yolo.classify.ClassificationValidator.build_dataset: False,
    RTDETRValidator.build_dataset: True,
}


class _SuppliedValidator:
    """Mixed in before a validator of the package: replaces its loader."""

    def get_dataloader(self, dataset_path: Any, batch_size: int) -> Any:
        """A loader from yoload, or the package's own."""
        validator: Any = self
        builder = defined(type(self).__mro__, "build_dataset")
        loader = None
        if builder in _KNOWN:
            loader = supply(
                args=validator.args,
                data=validator.data,
                task=validator.args.task,
                path=dataset_path,
                batch_size=batch_size,
                rank=-1,
                train=False,
                stride=int(getattr(validator, "stride", None) or 32),
                stretch=_KNOWN[builder],
                rect=bool(getattr(validator.args, "rect", True)),
                device=getattr(validator, "device", "cpu"),
            )
        else:
            leave_to_package(f"{type(self).__name__} builds its own data set")
        if loader is None:
            parent: Any = super()
            return parent.get_dataloader(dataset_path, batch_size)
        return loader


class DetectionValidator(_SuppliedValidator, yolo.detect.DetectionValidator):
    """``ultralytics.models.yolo.detect.DetectionValidator``, fed by yoload."""


class SegmentationValidator(_SuppliedValidator, yolo.segment.SegmentationValidator):
    """``ultralytics.models.yolo.segment.SegmentationValidator``, fed by yoload."""


class PoseValidator(_SuppliedValidator, yolo.pose.PoseValidator):
    """``ultralytics.models.yolo.pose.PoseValidator``, fed by yoload."""


class OBBValidator(_SuppliedValidator, yolo.obb.OBBValidator):
    """``ultralytics.models.yolo.obb.OBBValidator``, fed by yoload."""


class ClassificationValidator(_SuppliedValidator, yolo.classify.ClassificationValidator):
    """``ultralytics.models.yolo.classify.ClassificationValidator``, fed by yoload."""


def accelerate_validator(validator: type) -> type:
    """The same validator class, fed by yoload."""
    if issubclass(validator, _SuppliedValidator):
        return validator
    return type(validator.__name__, (_SuppliedValidator, validator), {})
