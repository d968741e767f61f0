# SPDX-License-Identifier: Apache-2.0
"""``yoload-train``: ``yolo train`` with the loader replaced.

    yoload-train data=coco128.yaml model=yolov8n.yaml epochs=100 imgsz=640
"""

from __future__ import annotations

import ast
import sys
from typing import Any

USAGE = """usage: yoload-train [TASK] data=DATA model=MODEL [ARGUMENT=VALUE ...]

Trains as `yolo train` does, with the same arguments, fed by yoload.
TASK is detect, segment, pose, obb or classify; by default it is the model's own."""

TASKS = ("detect", "segment", "pose", "obb", "classify")


def parse(words: list[str]) -> dict[str, Any]:
    """NAME=VALUE words as arguments; values as Python writes them, or text."""
    arguments: dict[str, Any] = {}
    for word in words:
        if word == "train":  # `yolo train ...` out of habit
            continue
        if word in TASKS:
            arguments["task"] = word
            continue
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise ValueError(f"'{word}': expected NAME=VALUE")
        try:
            arguments[name] = ast.literal_eval(value.title() if value.lower() in _WORDS else value)
        except (ValueError, SyntaxError):
            arguments[name] = value
    return arguments


_WORDS = ("true", "false", "none")


def main(words: list[str] | None = None) -> None:
    words = sys.argv[1:] if words is None else words
    if not words or words[0] in ("-h", "--help", "help"):
        print(USAGE)
        sys.exit(0 if words else 2)
    try:
        arguments = parse(words)
    except ValueError as error:
        sys.exit(f"yoload-train: {error}\n{USAGE}")
    from ultralytics import RTDETR, YOLO

    from .trainers import TRAINERS, accelerate

    name = str(arguments.pop("model", "yolo26n.pt"))
    if "rtdetr" in name.lower():
        from ultralytics.models.rtdetr.train import RTDETRTrainer

        RTDETR(name).train(trainer=accelerate(RTDETRTrainer), **arguments)
        return
    model = YOLO(name, task=arguments.pop("task", None))
    model.train(trainer=TRAINERS[model.task], **arguments)


if __name__ == "__main__":
    main()
