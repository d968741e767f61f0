# SPDX-License-Identifier: Apache-2.0
"""Memory that batches are written into.

The engine gets addresses; who owns the bytes is decided here:

* With ``device="cuda"``, a batch is a tensor of torch's caching device allocator. It belongs to the
  stream that was current when it was made: the engine writes after what that stream had been given
  before, and the consumer's stream reads after the engine, both without the CPU waiting.
* With a GPU beside batches that are made on the CPU, a batch is a tensor from torch's caching pinned allocator. It records the streams that
  copy from a block, so ``batch["img"].cuda(non_blocking=True)`` may be followed by dropping the
  batch at once: the block is not handed out again before the copy has passed.
* Without, it is a block of our own that goes back to a free list when the last array or tensor
  that looks at it is gone: fresh memory would cost a page fault for every 4 KB.

Either way a batch that is kept stays as it is and costs its memory, nothing else.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
import weakref
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt


def as_buffer(memory: Any) -> Any:
    """A ctypes array as numpy takes it: their type hints do not know of each other."""
    return memory


class Block(Protocol):
    """Memory for one batch."""

    address: int
    bytes: int
    stream: int
    """Device memory: the stream whose earlier work may still use it. Host memory: 0."""

    def array(self, count: int) -> Any:
        """The first ``count`` bytes as a flat uint8 array or tensor that owns the memory.

        Called once: the block is free again when that array and all its views are gone.
        """


class _View(ctypes.Array):  # type: ignore[type-arg]
    """Base object of the arrays that look at a block; dies with the last of them."""

    _type_ = ctypes.c_uint8
    _length_ = 1


class RecycledBlock:
    """A block of anonymous memory that returns to its pool when no array looks at it any more."""

    def __init__(self, pool: RecyclingPool, memory: mmap.mmap) -> None:
        self._pool = pool
        self._memory = memory
        self.bytes = len(memory)
        self.stream = 0
        self.address = ctypes.addressof(ctypes.c_uint8.from_buffer(memory))

    def array(self, count: int) -> npt.NDArray[np.uint8]:
        kind = self._pool.view_type(self.bytes)
        view = kind.from_address(self.address)
        # The finalizer holds the block, and so its memory, until the view is gone.
        finalizer = weakref.finalize(view, self._pool.give_back, self)
        finalizer.atexit = False
        flat: npt.NDArray[np.uint8] = np.frombuffer(as_buffer(view), np.uint8, count)
        return flat


class RecyclingPool:
    """Blocks of one size. Thread-safe: finalizers run wherever an array happens to die."""

    def __init__(self, max_idle: int) -> None:
        self._max_idle = max_idle
        self._idle: list[RecycledBlock] = []
        self._lock = threading.RLock()  # a finalizer may interrupt its own thread
        self._view_types: dict[int, type[_View]] = {}

    def view_type(self, count: int) -> type[_View]:
        found = self._view_types.get(count)
        if found is None:
            found = type(f"_View{count}", (_View,), {"_length_": count, "_type_": ctypes.c_uint8})
            self._view_types[count] = found
        return found

    def take(self, count: int) -> RecycledBlock:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        memory = mmap.mmap(-1, count)
        if hasattr(mmap, "MADV_HUGEPAGE") and count >= 1 << 22:
            try:
                memory.madvise(mmap.MADV_HUGEPAGE)
            except OSError:
                pass  # a kernel without huge pages
        return RecycledBlock(self, memory)

    def give_back(self, block: RecycledBlock) -> None:
        with self._lock:
            if len(self._idle) < self._max_idle:
                self._idle.append(block)

    def clear(self) -> None:
        with self._lock:
            self._max_idle = 0
            self._idle.clear()


class TensorBlock:
    """A tensor of one of torch's caching allocators."""

    def __init__(self, tensor: Any, stream: int = 0) -> None:
        self._tensor = tensor
        self.stream = stream
        self.bytes = int(tensor.numel())
        self.address = int(tensor.data_ptr())

    def array(self, count: int) -> Any:
        return self._tensor[:count]


class PinnedPool:
    """Pinned blocks; torch recycles them."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def take(self, count: int) -> TensorBlock:
        return TensorBlock(self._torch.empty(count, dtype=self._torch.uint8, pin_memory=True))

    def clear(self) -> None:
        """Nothing is kept here."""


class DevicePool:
    """Blocks in a GPU's memory; torch recycles them."""

    def __init__(self, torch: Any, ordinal: int) -> None:
        self._torch = torch
        self._device = torch.device("cuda", ordinal)

    def stream(self) -> int:
        """The calling thread's current stream, as the engine takes it."""
        return int(self._torch.cuda.current_stream(self._device).cuda_stream)

    def take(self, count: int) -> TensorBlock:
        tensor = self._torch.empty(count, dtype=self._torch.uint8, device=self._device)
        return TensorBlock(tensor, self.stream())

    def share_with_current_stream(self, tensor: Any) -> None:
        """For a block that was made while another stream was current: torch does not hand it out
        again before this one has passed."""
        tensor.record_stream(self._torch.cuda.current_stream(self._device))

    def to_device(self, value: Any) -> Any:
        """Tensors, also inside of dicts, lists and tuples, on the GPU; copies do not wait."""
        if isinstance(value, self._torch.Tensor):
            return value if value.is_cuda else value.to(self._device, non_blocking=True)
        if isinstance(value, dict):
            for key in value:  # in place: a Batch has attributes of its own
                value[key] = self.to_device(value[key])
            return value
        if type(value) in (list, tuple):
            return type(value)(self.to_device(one) for one in value)
        return value

    def clear(self) -> None:
        """Nothing is kept here."""
