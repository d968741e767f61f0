# SPDX-License-Identifier: Apache-2.0
"""Loader: iterate over finished training batches."""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import re
import threading
import warnings
import weakref
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _native
from ._memory import Block, DevicePool, PinnedPool, RecyclingPool
from ._native import CBatch, check, lib, take_json, take_text
from .augment import Augment
from .batch import ArrayMaker, RawBatch, img_bytes, unpack
from .collate import COLLATES, Collate
from .dataset import Dataset
from .errors import Closed, DataWarning, Error

log = logging.getLogger("yoload")

# How long one wait for a batch stays in C, where Ctrl-C is not noticed.
_WAIT_MS = 100
_STATE_VERSION = 1

_living: weakref.WeakSet[Loader] = weakref.WeakSet()


class _Engine:
    """The engine's handle, shared by threads: it is freed when the last call has left it.

    Used as ``with engine as handle``.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._pid = os.getpid()
        self._users = 0
        self.closed = self._freed = False
        # A finalizer may close while its own thread is just entering.
        self._lock = threading.RLock()

    def __enter__(self) -> int:
        if os.getpid() != self._pid:
            raise Error(
                f"this loader belongs to process {self._pid}: its threads do not exist after a "
                "fork; make a loader in each process",
                stage="pipeline",
            )
        with self._lock:
            if self.closed:
                raise Closed("the loader is closed", stage="pipeline")
            self._users += 1
        return self._handle

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
        self._free_when_left()

    def require_open(self) -> None:
        """Raises what a call would raise now."""
        with self:
            pass

    def close(self) -> None:
        if os.getpid() != self._pid:
            return  # a forked child has the memory and not the threads
        with self._lock:
            if not self.closed:
                self.closed = True
                lib.yoload_stop(self._handle)  # wakes who waits for a batch
        self._free_when_left()

    def _free_when_left(self) -> None:
        with self._lock:
            if not self.closed or self._users or self._freed:
                return
            self._freed = True
        lib.yoload_close(self._handle)


class Loader:
    """Hands out finished training batches, prepared ahead by the engine's own threads.

    Iterating over a loader goes through one epoch; the next loop goes through the following one.
    Which pixels a batch holds depends on the data, the options, the seed, the epoch and the place
    of the batch, never on timing or on the number of threads.

    Parameters
    ----------
    data : str, path or Dataset
        data.yaml, a folder, a list of pictures, a COCO json, or ``Dataset.from_records(...)``.
    split : {"train", "val", "test"}
    imgsz : int
        Side of the output in px.
    batch_size : int
        Samples in a batch **of this rank**: all ranks together step by batch_size * world_size.
    augment : bool, Augment or mapping
        True: Augment(). False: validation, letterbox only, in order unless shuffle is set.
    seed : int
    workers : int
        Engine threads; 0 takes 70 to 90 % of the physical cores that this process may use.
    prefetch_factor : int
        Batches prepared ahead, as far as memory_budget allows.
    pin_memory : bool, optional
        Batches in page-locked memory, so that copies to a GPU overlap; default: where torch sees a
        GPU.
    drop_last : bool
        Leave out the last batch when it is not full.
    persistent_workers : bool
        Accepted as torch's DataLoader has it; the engine's threads always persist until close().
    shuffle : bool, optional
        Default: with augmentation.
    rect : bool
        Batches of similar aspect ratio with the smallest padding, in order of aspect ratio.
    cache : {"none", "bytes", "pixels"}
        Keep files, or decoded and resized pictures, in memory, within memory_budget. None and False
        are "none", True and "ram" are "pixels".
    memory_budget : int or str
        Bytes, or "4GB", for pool, caches and batches together; 0 takes a quarter of the memory, at
        most 4 GiB.
    device : str or torch.device
        "cpu"; "cuda" or "cuda:N": pictures are decoded and augmented on that GPU and batches are
        tensors there; "auto": the GPU where there is one. Needs torch. docs/gpu.md says more.
    output : {"torch", "numpy"}, optional
        Default: torch where it is installed.
    collate : {"ultralytics", "yolov5", "detr"} or callable
        Layout of a batch, see ``yoload.collate``; a callable gets the Ultralytics batch and returns
        what iteration yields.
    rank, world_size : int, optional
        This process among those that train together; default: RANK and WORLD_SIZE of the
        environment (torchrun), else 0 of 1. With augmentation every rank gets as many samples;
        without, each picture comes exactly once over all ranks.
    epochs : int
        Planned epochs; decides when close_mosaic begins. 0: unknown, never.
    task : {"detect", "segment", "pose", "obb", "classify"}, optional
        Default: the data set's own.
    classes : sequence of int, optional
        Keep objects of these classes only.
    single_cls : bool
        All objects become class 0.
    fraction : float
        Share of the data set, from its start.
    dtype : {"uint8", "float16", "bfloat16", "float32"}, optional
        Numbers of img; floats are (level / 255 - mean) / std. Default: uint8; float32 for classify
        and collate="detr".
    fidelity : {"exact", "fused"}
        Two bilinear passes as the reference does, or one straight from the (scaled) decode: faster
        and sharper, other pixels.
    stride, mask_ratio, overlap_mask, cache_dir, window
        See docs/knobs.md.
    **options
        Every further option of the engine by its name, e.g. ``error_budget=0.02``,
        ``on_corrupt="accept"``, ``scale_16bit=True``; ``yoload.option_table()`` lists them.

    Raises
    ------
    ValueError
        A value that makes no sense; it names option, value and what was expected.
    TypeError
        An option that does not exist; it names the nearest one.
    yoload.Error
        The data cannot be opened, too many pictures cannot be read, ...: with path, stage, cause.

    Examples
    --------
    >>> with yoload.Loader("coco128.yaml", imgsz=640, batch_size=16) as loader:
    ...     for epoch in range(3):
    ...         loader.set_epoch(epoch)
    ...         for batch in loader:
    ...             train_step(batch["img"], batch["cls"], batch["bboxes"], batch["batch_idx"])
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | Dataset,
        *,
        split: str = "train",
        imgsz: int = 640,
        batch_size: int = 16,
        augment: bool | Augment | Mapping[str, Any] = True,
        seed: int = 0,
        workers: int = 0,
        prefetch_factor: int = 4,
        pin_memory: bool | None = None,
        drop_last: bool = False,
        persistent_workers: bool = True,
        shuffle: bool | None = None,
        rect: bool = False,
        cache: str | bool | None = None,
        memory_budget: int | str = 0,
        device: str = "cpu",
        output: str | None = None,
        collate: str | Callable[[Any], Any] = "ultralytics",
        rank: int | None = None,
        world_size: int | None = None,
        epochs: int = 0,
        task: str | None = None,
        classes: Sequence[int] | None = None,
        single_cls: bool = False,
        fraction: float = 1.0,
        dtype: str | None = None,
        fidelity: str = "exact",
        stride: int = 32,
        mask_ratio: int = 4,
        overlap_mask: bool = True,
        cache_dir: str | os.PathLike[str] = "",
        window: int = 512,
        **options: Any,
    ) -> None:
        self._generation = 0  # of the iterator that may go on
        self._epoch = 0
        self._first_batch = 0  # where the next iteration of _epoch begins
        self._next_batch = 0  # to be delivered
        self._ledger_seen = 0
        self._blocks: dict[int, Block] = {}
        self._tokens = 0
        self._pending = CBatch()

        del persistent_workers
        self._collate, self._collate_by_user, collate_name = _collate(collate)
        self._torch = _torch(output)
        device = str(device)
        if device == "auto" and self._torch is None:
            device = "cpu"
        if device.startswith("cuda") and self._torch is None:
            raise ValueError(f"device = {device!r}: expected output='torch'; batches are its tensors")
        self._pin = self._wants_pinned(pin_memory)
        self._make = ArrayMaker(self._torch, self._pin)
        settings = _augment_options(augment)
        self._augmented = augment is not False
        if shuffle is None:
            shuffle = self._augmented and not rect
        settings.update(
            split=split,
            imgsz=imgsz,
            batch_size=batch_size,
            seed=seed,
            workers=workers,
            prefetch_factor=prefetch_factor,
            drop_last=drop_last,
            shuffle=shuffle,
            rect=rect,
            cache=_cache(cache),
            memory_budget=_bytes(memory_budget),
            rank=_from_environment("RANK", 0) if rank is None else rank,
            world_size=_from_environment("WORLD_SIZE", 1) if world_size is None else world_size,
            epochs=epochs,
            classes=[int(c) for c in classes or ()],
            single_cls=single_cls,
            fraction=fraction,
            fidelity=fidelity,
            stride=stride,
            mask_ratio=mask_ratio,
            overlap_mask=overlap_mask,
            cache_dir=os.fspath(cache_dir),
            window=window,
            device=device,
            augment_enabled=self._augmented,
        )
        if task is not None:
            settings["task"] = task
        if dtype is None and (collate_name == "detr" or _is_classify(data, task)):
            dtype = "float32"
        if dtype == "bfloat16" and self._torch is None:
            raise ValueError("dtype = 'bfloat16': numpy has no such numbers, expected output='torch'")
        settings["dtype"] = dtype or "uint8"
        settings.update(options)
        self._engine = self._open(data, settings)
        self.task: str
        self.names: list[str]
        with self._engine as handle:
            facts = take_json(lib.yoload_dataset_json(handle))
            self._prefetch = int(lib.yoload_prefetch(handle))
            self._buffer_bytes = int(lib.yoload_buffer_bytes(handle))
            messages = take_json(lib.yoload_warnings_json(handle))
            ordinal = int(lib.yoload_device(handle))
        self.task, self.names = facts["task"], facts["names"]
        self.nc, self.channels = int(facts["nc"]), int(facts["channels"])
        self.kpt_shape = (facts["kpt_count"], facts["kpt_dims"]) if facts["kpt_count"] else None
        self.batch_size, self.imgsz = int(settings["batch_size"]), int(settings["imgsz"])
        self.seed = int(settings["seed"])
        self._world = int(settings["world_size"])
        self._overlap = bool(settings["overlap_mask"])
        self._memory: RecyclingPool | PinnedPool | DevicePool
        self._gpu = DevicePool(self._torch, ordinal) if ordinal >= 0 else None
        if self._gpu is not None:
            self._memory = self._gpu
        elif self._pin:
            self._memory = PinnedPool(self._torch)
        else:
            self._memory = RecyclingPool(max_idle=self._prefetch + 2)
        _living.add(self)
        for message in messages:
            warnings.warn(message, DataWarning, stacklevel=2)

    def _wants_pinned(self, pin_memory: bool | None) -> bool:
        if self._torch is None or not pin_memory and pin_memory is not None:
            return False
        there = bool(self._torch.cuda.is_available())
        if pin_memory and not there:
            warnings.warn("pin_memory: no GPU is there, memory stays pageable", stacklevel=3)
        return there

    def _open(self, data: Any, settings: Mapping[str, Any]) -> _Engine:
        handle = ctypes.c_void_p()
        options = lib.yoload_options_new()
        try:
            if isinstance(data, Dataset):
                check(lib.yoload_options_set_records(options, data._records()))
            else:
                check(lib.yoload_options_set(options, b"data", os.fsencode(data)))
            for name, value in settings.items():
                _set(options, name, value)
            check(lib.yoload_open(options, ctypes.byref(handle)))
        finally:
            lib.yoload_options_free(options)
        assert handle.value is not None
        return _Engine(handle.value)

    # -- facts -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Batches in an epoch of this rank."""
        with self._engine as handle:
            return int(lib.yoload_batches(handle))

    @property
    def images_per_epoch(self) -> int:
        """Samples in an epoch of this rank."""
        with self._engine as handle:
            return int(lib.yoload_images(handle))

    @property
    def epoch(self) -> int:
        """Epoch of the running iteration, or of the next one."""
        return self._epoch

    def report(self) -> Report:
        """What the loader did so far: rates, stages, memory, and a verdict in one sentence.

        Returns
        -------
        Report
            A dict (keys as in ``yoload bench --json``) that prints as a table.
        """
        with self._engine as handle:
            report = Report(take_json(lib.yoload_report_json(handle)))
            report.text = take_text(lib.yoload_report_text(handle))
        return report

    def ledger(self) -> list[dict[str, Any]]:
        """Pictures that could not be used: epoch, position, path, stage, cause, replacement."""
        with self._engine as handle:
            entries: list[dict[str, Any]] = take_json(lib.yoload_ledger_json(handle))
        return entries

    # -- iteration -------------------------------------------------------------------------------

    def set_epoch(self, epoch: int) -> None:
        """The next loop goes through ``epoch``. What was prepared for another one is dropped.

        After ``load_state_dict`` with a state of the same epoch, that place is kept.
        """
        self._engine.require_open()
        if epoch < 0:
            raise ValueError(f"epoch = {epoch}: expected 0 or more")
        if epoch != self._epoch:
            self._epoch, self._first_batch, self._next_batch = epoch, 0, 0
        self._generation += 1

    def __iter__(self) -> Iterator[Any]:
        """One epoch. Starting another iteration of the same loader ends this one."""
        self._generation += 1
        first = self._first_batch
        with self._engine as handle:
            check(lib.yoload_set_epoch(handle, self._epoch, first))
        self._first_batch, self._next_batch = 0, first
        self._drop_pending()
        self._offer()
        return _EpochIterator(self, self._generation)

    def _next(self) -> Any:
        """The next batch, collated; raises StopIteration at the end of the epoch."""
        raw = self._fetch()
        if raw is None:
            self._log_ledger()
            self._epoch, self._next_batch = self._epoch + 1, 0
            raise StopIteration
        self._next_batch = raw.index + 1
        return self._deliver(raw)

    def _deliver(self, raw: RawBatch) -> Any:
        batch = self._collate(raw, self.task, self._augmented, self._make)
        if self._gpu is not None:
            batch = self._gpu.to_device(batch)
        return self._collate_by_user(batch) if self._collate_by_user else batch

    def _fetch(self) -> RawBatch | None:
        # An interrupt between the engine's answer and ours leaves the batch pending: nothing is
        # lost, the next call begins with it.
        pending = self._pending
        stream = self._gpu.stream() if self._gpu is not None else 0
        while not pending.owner:
            with self._engine as handle:
                status = check(
                    lib.yoload_next_on(handle, ctypes.byref(pending), _WAIT_MS, stream)
                )
            if status == _native.END:
                return None
        block = self._blocks[pending.token]
        img = self._make.img(block, pending)
        if self._gpu is not None and block.stream != stream:
            self._gpu.share_with_current_stream(img)
        raw = unpack(pending, img, self._make, self._overlap)
        self._drop_pending()
        self._offer()
        return raw

    def _drop_pending(self) -> None:
        if self._pending.owner:
            self._blocks.pop(self._pending.token, None)
            lib.yoload_batch_free(ctypes.byref(self._pending))

    def _offer(self) -> None:
        """Tops up the buffers that the engine may write into."""
        while len(self._blocks) < self._prefetch:
            block = self._memory.take(self._buffer_bytes)
            self._tokens += 1
            self._blocks[self._tokens] = block
            with self._engine as handle:
                check(
                    lib.yoload_offer_on(
                        handle, block.address, block.bytes, self._tokens, block.stream
                    )
                )

    def _log_ledger(self) -> None:
        entries = self.ledger()
        fresh = entries[self._ledger_seen :]
        self._ledger_seen = len(entries)
        if fresh:
            last = fresh[-1]
            log.warning(
                "epoch %d: %d pictures could not be used and were replaced, see ledger(); the last: %s: %s: %s",
                self._epoch, len(fresh), last["path"], last["stage"], last["cause"],
            )  # fmt: skip

    # -- state -----------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, int]:
        """Where the loader stands, as a few integers: the batch after the last one delivered.

        Exact at any moment, also in the middle of an epoch, and for another world size or batch
        size as long as the place falls on one of its batches.
        """
        return {
            "version": _STATE_VERSION,
            "seed": self.seed,
            "epoch": self._epoch,
            "sample": self._next_batch * self.batch_size * self._world,
        }

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Goes on where ``state_dict`` was taken.

        Raises
        ------
        ValueError
            A state of another seed or version, or a place between two batches of this loader.
        """
        if state.get("version") != _STATE_VERSION:
            raise ValueError(f"state version {state.get('version')}: expected {_STATE_VERSION}")
        if state["seed"] != self.seed:
            raise ValueError(f"state has seed {state['seed']}, the loader has {self.seed}")
        step = self.batch_size * self._world
        batch, rest = divmod(int(state["sample"]), step)
        if rest:
            raise ValueError(
                f"sample {state['sample']} is no multiple of batch_size * world_size = {step}: "
                "it lies within a batch of this loader"
            )
        self._epoch, self._first_batch, self._next_batch = int(state["epoch"]), batch, batch
        if batch >= len(self):
            self._epoch, self._first_batch, self._next_batch = self._epoch + 1, 0, 0
        self._generation += 1

    def replay(self, epoch: int, batch: int) -> Any:
        """The batch that iteration yields, or yielded, at this place; made anew, on this thread.

        Iteration goes on unharmed.
        """
        if not 0 <= batch < len(self):
            raise ValueError(f"batch = {batch}: expected 0 to {len(self) - 1}")
        first = batch * self.batch_size
        count = min(self.batch_size, self.images_per_epoch - first)
        # Single samples come in host memory, on a GPU too.
        memory = RecyclingPool(max_idle=0) if self._gpu is not None else self._memory
        block: Block = memory.take(self._buffer_bytes)
        parts: list[CBatch] = []
        offset = 0
        try:
            with self._engine as handle:
                for sample in range(first, first + count):
                    parts.append(CBatch())
                    check(
                        lib.yoload_render(
                            handle,
                            epoch,
                            int(lib.yoload_position(handle, sample)),
                            block.address + offset,
                            block.bytes - offset,
                            ctypes.byref(parts[-1]),
                        )
                    )
                    offset += img_bytes(parts[-1])
            return self._deliver(self._join(parts, block, batch))
        finally:
            for one in parts:
                lib.yoload_batch_free(ctypes.byref(one))

    def _join(self, parts: list[CBatch], block: Block, index: int) -> RawBatch:
        """One batch of several of size one that lie side by side in ``block``."""
        singles = [unpack(one, None, self._make, self._overlap) for one in parts]
        raw = singles[0]
        parts[0].size = len(parts)
        raw.img = self._make.img(block, parts[0])
        for i, single in enumerate(singles):
            single.batch_idx += i
        raw.cls = self._make.stack([s.cls for s in singles])
        raw.bboxes = self._make.stack([s.bboxes for s in singles])
        raw.batch_idx = self._make.stack([s.batch_idx for s in singles])
        if raw.masks is not None:
            raw.masks = self._make.stack([s.masks for s in singles])
        if raw.keypoints is not None:
            raw.keypoints = self._make.stack([s.keypoints for s in singles])
        raw.im_file = tuple(s.im_file[0] for s in singles)
        raw.ori_shape = tuple(s.ori_shape[0] for s in singles)
        raw.loaded_shape = tuple(s.loaded_shape[0] for s in singles)
        for name in ("records", "positions", "replaced", "repeated"):
            setattr(raw, name, np.concatenate([getattr(s, name) for s in singles]))
        raw.index = index
        return raw

    # -- life ------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stops the threads and gives all memory back. Batches that were handed out stay valid."""
        self._generation += 1
        self._engine.close()
        self._memory.clear()

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_engine"):
            self.close()

    def __repr__(self) -> str:
        if self._engine.closed:
            return "<yoload.Loader, closed>"
        return (
            f"<yoload.Loader {self.task}: {self.images_per_epoch} images, {len(self)} batches of "
            f"{self.batch_size} at {self.imgsz}, epoch {self._epoch}>"
        )

    def __reduce__(self) -> Any:
        raise TypeError("a Loader holds threads and cannot be pickled: make one in each process")


class _EpochIterator:
    """Iterator over one epoch; refuses to go on once the loader was restarted."""

    def __init__(self, loader: Loader, generation: int) -> None:
        self._loader = loader
        self._generation = generation
        self._finished = False

    def __iter__(self) -> _EpochIterator:
        return self

    def __len__(self) -> int:
        return len(self._loader) - self._loader._next_batch

    def __next__(self) -> Any:
        if self._finished:
            raise StopIteration
        if self._generation != self._loader._generation:
            self._loader._engine.require_open()
            raise RuntimeError(
                "this iteration has ended: another one of the same loader was started"
            )
        try:
            return self._loader._next()
        except StopIteration:
            self._finished = True
            raise


class Report(dict[str, Any]):
    """A report as data; ``print`` shows the stage table and the verdict."""

    text: str = ""

    def __str__(self) -> str:
        return self.text


def option_table() -> dict[str, tuple[str, str]]:
    """Every option of the engine: name -> (type, default) as text."""
    return _native.option_table()


def _set(options: int, name: str, value: Any) -> None:
    try:
        check(lib.yoload_options_set(options, name.encode(), os.fsencode(_text(value))))
    except ValueError as error:
        if name in _ELSEWHERE:
            raise TypeError(
                f"there is no option '{name}'; did you mean '{_ELSEWHERE[name]}'?"
            ) from None
        if name not in _native.option_table():
            raise TypeError(str(error)) from None
        raise


# What other loaders call it.
_ELSEWHERE = {
    "batch": "batch_size",
    "collate_fn": "collate",
    "device_id": "device",
    "image_size": "imgsz",
    "img_size": "imgsz",
    "num_shards": "world_size",
    "num_threads": "workers",
    "num_workers": "workers",
    "prefetch_queue_depth": "prefetch_factor",
    "random_shuffle": "shuffle",
    "shard_id": "rank",
}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value)
    return str(value)


def _collate(wanted: Any) -> tuple[Collate, Callable[[Any], Any] | None, str]:
    if callable(wanted):
        return COLLATES["ultralytics"], wanted, "ultralytics"
    if wanted not in COLLATES:
        raise ValueError(
            f"collate = {wanted!r}: expected a callable or one of {', '.join(COLLATES)}"
        )
    return COLLATES[wanted], None, str(wanted)


def _torch(output: str | None) -> Any | None:
    if output not in (None, "torch", "numpy"):
        raise ValueError(f"output = {output!r}: expected 'torch' or 'numpy'")
    if output == "numpy":
        return None
    try:
        import torch

        return torch
    except ImportError:
        if output == "torch":
            raise ValueError("output = 'torch': torch is not installed; 'numpy' works") from None
        return None


def _augment_options(augment: bool | Augment | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(augment, Mapping):
        # The defaults are the engine's, and so is the message for a name that does not exist.
        return dict(augment)
    if isinstance(augment, Augment):
        return augment.options()
    if isinstance(augment, bool):
        return {}
    raise TypeError(f"augment = {augment!r}: expected a bool, yoload.Augment or a mapping")


def _cache(cache: str | bool | None) -> str:
    if cache is None or cache is False:
        return "none"
    if cache is True or cache == "ram":
        return "pixels"
    return str(cache)


def _bytes(amount: int | str) -> int:
    if isinstance(amount, int):
        return amount
    match = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B?\s*", amount, re.IGNORECASE)
    if not match:
        raise ValueError(f"memory_budget = {amount!r}: expected bytes, or text such as '4GB'")
    power = " KMGT".index(match[2].upper() or " ")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** power)


def _from_environment(name: str, default: int) -> int:
    value = os.environ.get(name, "")
    # Ultralytics and others use -1 for "not distributed".
    return int(value) if value.isdigit() else default


def _is_classify(data: Any, task: str | None) -> bool:
    if isinstance(data, Dataset):
        return data.task == "classify"
    return task == "classify"


def _close_all() -> None:
    for loader in list(_living):
        loader.close()


atexit.register(_close_all)
