# SPDX-License-Identifier: Apache-2.0
"""Classes that ``accelerate`` makes, by a name from which any process can make them again.

Training on several devices starts processes that import the trainer by module and name.
"""

from __future__ import annotations

import importlib
from typing import Any

_made: dict[type, type] = {}


def make(mixin: type, base: type) -> type:
    """A class of the mixin and the base, the same one every time."""
    if base not in _made:
        name = f"{base.__module__}.{base.__qualname__}".replace("_", "_u").replace(".", "__")
        _made[base] = type(name, (mixin, base), {"__module__": __name__, "__doc__": base.__doc__})
    return _made[base]


def __getattr__(name: str) -> Any:
    if "__" not in name or name.startswith("__"):
        raise AttributeError(name)
    module, _, kind = name.replace("__", ".").replace("_u", "_").rpartition(".")
    from .trainers import accelerate

    return accelerate(getattr(importlib.import_module(module), kind))
