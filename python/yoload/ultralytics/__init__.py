# SPDX-License-Identifier: Apache-2.0
"""Ultralytics' trainers and validators, fed by yoload.

>>> from ultralytics import YOLO
>>> from yoload.ultralytics import DetectionTrainer
>>> YOLO("yolov8n.yaml").train(data="coco128.yaml", trainer=DetectionTrainer)

``accelerate(TrainerClass)`` does the same for any other trainer. All arguments keep their meaning;
what cannot be reproduced is said once, by name, and the package's own loader is used.

The ultralytics package is imported when this module is, and is under its own licence (AGPL-3.0, or a
commercial one); yoload neither contains nor changes it.
"""

from .trainers import (
    ClassificationTrainer,
    DetectionTrainer,
    OBBTrainer,
    PoseTrainer,
    SegmentationTrainer,
    accelerate,
)
from .validators import (
    ClassificationValidator,
    DetectionValidator,
    OBBValidator,
    PoseValidator,
    SegmentationValidator,
    accelerate_validator,
)

__all__ = [
    "ClassificationTrainer",
    "ClassificationValidator",
    "DetectionTrainer",
    "DetectionValidator",
    "OBBTrainer",
    "OBBValidator",
    "PoseTrainer",
    "PoseValidator",
    "SegmentationTrainer",
    "SegmentationValidator",
    "accelerate",
    "accelerate_validator",
]
