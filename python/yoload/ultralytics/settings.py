# SPDX-License-Identifier: Apache-2.0
"""From a trainer's arguments to a Loader's: what each means, and what cannot be honoured."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Mapping

# The arguments whose names and meanings are the same on both sides.
_AUGMENT_ARGS = (
    "mosaic", "mixup", "cutmix", "copy_paste", "copy_paste_mode", "degrees", "translate", "scale",
    "shear", "perspective", "hsv_h", "hsv_s", "hsv_v", "flipud", "fliplr", "bgr",
)  # fmt: skip

# The package's default. It is the same whether a user asks for 8 or for nothing, so it is read as
# "as many as are good".
_DEFAULT_WORKERS = 8


def cannot_reproduce(args: Any, task: str, train: bool) -> list[str]:
    """Arguments, by name, that ask for pixels which the engine cannot make."""
    reasons = []
    if train and getattr(args, "augmentations", None):
        reasons.append("augmentations (a list of albumentations transforms of your own)")
    if train and isinstance(getattr(args, "scale", 0.5), (list, tuple)):
        reasons.append(f"scale={args.scale} (a single number is reproduced)")
    fraction = getattr(args, "fraction", 1.0)
    if train and (isinstance(fraction, (list, tuple)) or not 0 < fraction <= 1):
        reasons.append(f"fraction={fraction} (a share up to 1 is reproduced)")
    if train and task == "classify" and getattr(args, "auto_augment", None):
        reasons.append(f"auto_augment={args.auto_augment} (auto_augment=None is reproduced)")
    return reasons


def augment_options(args: Any, task: str) -> dict[str, Any]:
    options = {name: getattr(args, name) for name in _AUGMENT_ARGS if hasattr(args, name)}
    # The package applies these only where albumentations is installed.
    filters = 0.01 if importlib.util.find_spec("albumentations") else 0.0
    options.update(blur=filters, median_blur=filters, to_gray=filters, clahe=filters)
    options["close_mosaic"] = getattr(args, "close_mosaic", 0)
    # The trainer resizes whole batches itself.
    options["multi_scale"] = 0.0
    if task == "classify":
        options["auto_augment"] = ""
        options["erasing"] = getattr(args, "erasing", 0.0)
    return options


def classes(args: Any) -> list[int] | None:
    wanted = getattr(args, "classes", None)
    return [wanted] if isinstance(wanted, int) else wanted


def workers(args: Any) -> int:
    wanted = int(getattr(args, "workers", _DEFAULT_WORKERS))
    if wanted == _DEFAULT_WORKERS:
        return 0  # automatic
    return max(wanted, 1)


def device(trained_on: Any) -> str:
    """Where batches are made: on the GPU that trains."""
    if getattr(trained_on, "type", "cpu") != "cuda":
        return "cpu"
    # A build without the GPU path, or a driver that it cannot use, still trains.
    return f"cuda:{trained_on.index}" if trained_on.index else "auto"


def batch_dtype(args: Any, amp: Any) -> str:
    """Numbers of training batches that are made on a GPU: those that autocast would turn them into.

    Bytes where the package computes with pictures before the model does (``multi_scale``), and in
    full precision, where scaled batches would take four times the memory.
    """
    if not amp or float(getattr(args, "multi_scale", 0.0) or 0.0) > 0:
        return "uint8"
    return "bfloat16" if getattr(args, "amp", True) == "bf16" else "float16"


def overrides() -> dict[str, str]:
    """Options of the engine from YOLOAD_OPTIONS, "name=value,name=value": trainers have no place for
    them. They win over everything else.
    """
    options = {}
    for item in filter(None, os.environ.get("YOLOAD_OPTIONS", "").split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"YOLOAD_OPTIONS: {item!r}: expected name=value")
        options[name.strip()] = value.strip()
    return options


def cache_mode(args: Any) -> tuple[str, str | None]:
    """(mode, what to warn of)."""
    wanted = getattr(args, "cache", False)
    if wanted is True or wanted == "ram":
        return "pixels", None
    if wanted == "disk":
        return "bytes", (
            "cache='disk' would write .npy files beside the pictures; files are kept in memory "
            "instead, as far as the memory budget allows"
        )
    return "none", None


def data_file(data: Mapping[str, Any], path: Any) -> str:
    """A data.yaml whose train split is the paths that the trainer has resolved, in the user's cache folder.

    The name depends on its content alone, so that label caches are found again.
    """
    paths = [str(p) for p in path] if isinstance(path, (list, tuple)) else [str(path)]
    names = data["names"]
    numbered = names if isinstance(names, Mapping) else dict(enumerate(names))
    content: dict[str, Any] = {
        "path": str(data.get("path") or ""),
        "train": paths,
        "names": {int(i): str(name) for i, name in numbered.items()},
    }
    for key in ("channels", "kpt_shape", "flip_idx"):
        if data.get(key) is not None:
            content[key] = list(data[key]) if key != "channels" else int(data[key])
    text = json.dumps(content, sort_keys=True)  # JSON is YAML
    name = hashlib.sha256(text.encode()).hexdigest()[:24] + ".yaml"
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    for folder in (Path(cache) / "yoload" / "ultralytics", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Readers of the same name never see half a file.
            scratch = folder / f"{name}.{os.getpid()}"
            scratch.write_text(text)
            scratch.replace(folder / name)
            return str(folder / name)
        except OSError:
            continue
    raise OSError("neither the cache folder nor the temporary folder can be written")


def npy_siblings(paths: Any) -> int:
    """Pictures beside which a .npy of the same name lies; the package reads those instead."""
    folders: dict[str, set[str]] = {}
    count = 0
    for path in paths:
        folder, file = os.path.split(path)
        if folder not in folders:
            names = os.listdir(folder) if os.path.isdir(folder) else []
            folders[folder] = {n[:-4] for n in names if n.endswith(".npy")}
        count += os.path.splitext(file)[0] in folders[folder]
    return count
