# SPDX-License-Identifier: Apache-2.0
"""The C interface (include/yoload/yoload.h) as ctypes declarations, and nothing more.

Every call here releases the GIL while it runs.
"""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_int, c_int16, c_int32, c_int64
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from .errors import Closed, Error

ABI_VERSION = 1

OK, END, BAD_ARGUMENT, FAILED, CLOSED = 0, 1, -1, -2, -3


class CSample(Structure):
    _fields_ = [
        ("position", c_uint64),
        ("record", c_uint32),
        ("replaced", c_int16),
        ("repeated", c_int16),
        ("ori_height_px", c_int32),
        ("ori_width_px", c_int32),
        ("resized_height_px", c_int32),
        ("resized_width_px", c_int32),
    ]


class CBatch(Structure):
    _fields_ = [
        ("struct_bytes", c_uint32),
        ("epoch", c_uint32),
        ("index", c_uint64),
        ("token", c_uint64),
        ("img", c_void_p),
        ("size", c_int32),
        ("channels", c_int32),
        ("height_px", c_int32),
        ("width_px", c_int32),
        ("dtype", c_int32),
        ("box_values", c_int32),
        ("objects", c_int64),
        ("cls", c_void_p),
        ("bboxes", c_void_p),
        ("batch_idx", c_void_p),
        ("keypoints", c_void_p),
        ("keypoints_per_object", c_int32),
        ("mask_height_px", c_int32),
        ("mask_width_px", c_int32),
        ("mask_count", c_int64),
        ("masks", c_void_p),
        ("samples", POINTER(CSample)),
        ("im_files", POINTER(c_char_p)),
        ("owner", c_void_p),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.struct_bytes = ctypes.sizeof(CBatch)


class CRecord(Structure):
    _fields_ = [
        ("first_row", c_uint64),
        ("rows", c_uint64),
        ("width_px", c_int32),
        ("height_px", c_int32),
    ]


class CPicture(Structure):
    _fields_ = [
        ("file", c_void_p),
        ("file_bytes", c_size_t),
        ("pixels", c_void_p),
        ("pixel_bytes", c_size_t),
        ("own_jpeg", c_int),
        ("error", c_char * 244),
    ]


# name: (result, arguments)
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "yoload_abi_version": (c_int, []),
    "yoload_version": (c_char_p, []),
    "yoload_error": (c_char_p, []),
    "yoload_error_path": (c_char_p, []),
    "yoload_error_stage": (c_char_p, []),
    "yoload_error_cause": (c_char_p, []),
    "yoload_options_new": (c_void_p, []),
    "yoload_options_free": (None, [c_void_p]),
    "yoload_options_set": (c_int, [c_void_p, c_char_p, c_char_p]),
    "yoload_options_help": (c_void_p, []),
    "yoload_records_new": (
        c_void_p,
        [c_char_p, POINTER(c_char_p), c_int, c_int, c_int, POINTER(c_int), c_char_p],
    ),
    "yoload_records_add": (
        c_int,
        [c_void_p, c_char_p, c_char_p, c_size_t, c_size_t, *[c_void_p] * 5],
    ),
    "yoload_records_free": (None, [c_void_p]),
    "yoload_options_set_records": (c_int, [c_void_p, c_void_p]),
    "yoload_open": (c_int, [c_void_p, POINTER(c_void_p)]),
    "yoload_close": (None, [c_void_p]),
    "yoload_stop": (None, [c_void_p]),
    "yoload_images": (c_uint64, [c_void_p]),
    "yoload_batches": (c_uint64, [c_void_p]),
    "yoload_buffer_bytes": (c_size_t, [c_void_p]),
    "yoload_prefetch": (c_int, [c_void_p]),
    "yoload_dataset_json": (c_void_p, [c_void_p]),
    "yoload_warnings_json": (c_void_p, [c_void_p]),
    "yoload_report_json": (c_void_p, [c_void_p]),
    "yoload_report_text": (c_void_p, [c_void_p]),
    "yoload_ledger_json": (c_void_p, [c_void_p]),
    "yoload_path": (c_void_p, [c_void_p, c_uint32]),
    "yoload_record_count": (c_uint64, [c_void_p]),
    "yoload_get_record": (c_int, [c_void_p, c_uint32, POINTER(CRecord)]),
    "yoload_rows": (c_void_p, [c_void_p]),
    "yoload_free": (None, [c_void_p]),
    "yoload_offer": (c_int, [c_void_p, c_void_p, c_size_t, c_uint64]),
    "yoload_device": (c_int, [c_void_p]),
    "yoload_offer_on": (c_int, [c_void_p, c_void_p, c_size_t, c_uint64, c_size_t]),
    "yoload_next_on": (c_int, [c_void_p, POINTER(CBatch), c_int, c_size_t]),
    "yoload_set_epoch": (c_int, [c_void_p, c_uint32, c_uint64]),
    "yoload_next": (c_int, [c_void_p, POINTER(CBatch), c_int]),
    "yoload_position": (c_uint64, [c_void_p, c_uint64]),
    "yoload_render": (
        c_int,
        [c_void_p, c_uint32, c_uint64, c_void_p, c_size_t, POINTER(CBatch)],
    ),
    "yoload_batch_free": (None, [POINTER(CBatch)]),
    "yoload_picture_size": (c_int, [c_char_p, c_size_t, POINTER(c_int), POINTER(c_int)]),
    "yoload_decode": (c_int, [POINTER(CPicture), c_size_t, c_int, c_int, c_int]),
}


def _library_path() -> Path:
    """The library in the wheel, or the one that YOLOAD_LIBRARY names (a build tree)."""
    named = os.environ.get("YOLOAD_LIBRARY")
    if named:
        return Path(named)
    return Path(__file__).parent / "lib" / "libyoload.so.1"


def _load() -> ctypes.CDLL:
    path = _library_path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"yoload's library cannot be loaded: {error}") from error
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    found = library.yoload_abi_version()
    if found != ABI_VERSION:
        raise ImportError(f"{path}: ABI version {found}, but this package needs {ABI_VERSION}")
    return library


lib = _load()


def check(status: int) -> int:
    """Raises what a negative status stands for; returns the others.

    Raises
    ------
    ValueError
        An option, name or value that makes no sense.
    Closed
        The loader was closed.
    Error
        Data or system failed.
    """
    if status >= 0:
        return status
    message = _text(lib.yoload_error())
    if status == BAD_ARGUMENT:
        raise ValueError(message)
    if status == CLOSED:
        raise Closed(message, stage="pipeline")
    raise Error(
        message,
        path=_text(lib.yoload_error_path()),
        stage=_text(lib.yoload_error_stage()),
        cause=_text(lib.yoload_error_cause()),
    )


def _text(value: bytes | None) -> str:
    return os.fsdecode(value) if value else ""


def take_text(pointer: int | None) -> str:
    """The string at a pointer that the caller has to free."""
    if not pointer:
        return ""
    try:
        return _text(ctypes.string_at(pointer))
    finally:
        lib.yoload_free(pointer)


def take_json(pointer: int | None) -> Any:
    return json.loads(take_text(pointer))


def version() -> str:
    return _text(lib.yoload_version())


def option_table() -> dict[str, tuple[str, str]]:
    """Name -> (type, default) of every option of the engine, as text."""
    table = {}
    for line in take_text(lib.yoload_options_help()).splitlines():
        name, kind, default = line.split("\t")
        table[name] = (kind, default)
    return table
