# SPDX-License-Identifier: Apache-2.0
"""A loader that notes everything that is done with it, its data set and its sampler."""

from __future__ import annotations

from typing import Any, Iterator


class Recorder:
    """Stands in for ``target``; ``touched`` gets a line per kind of access."""

    def __init__(self, target: Any, name: str, touched: set[str]) -> None:
        object.__setattr__(self, "_recorded", (target, name, touched))

    def __getattr__(self, attribute: str) -> Any:
        target, name, touched = self._recorded
        touched.add(f"{name}.{attribute}")
        value = getattr(target, attribute)  # an AttributeError answers a hasattr()
        if attribute in ("dataset", "sampler"):
            return Recorder(value, f"{name}.{attribute}", touched)
        if callable(value):

            def called(*args: Any, **kwargs: Any) -> Any:
                words = [*("arg" for _ in args), *sorted(kwargs)]
                touched.add(f"{name}.{attribute}({', '.join(words)})")
                return value(*args, **kwargs)

            return called
        return value

    def __setattr__(self, attribute: str, value: Any) -> None:
        target, name, touched = self._recorded
        touched.add(f"{name}.{attribute} = ")
        setattr(target, attribute, value)

    def __len__(self) -> int:
        target, name, touched = self._recorded
        touched.add(f"len({name})")
        return len(target)

    def __iter__(self) -> Iterator[Any]:
        target, name, touched = self._recorded
        touched.add(f"iter({name})")
        return iter(target)

    def __getitem__(self, index: Any) -> Any:
        target, name, touched = self._recorded
        touched.add(f"{name}[]")
        return target[index]
