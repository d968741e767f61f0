# SPDX-License-Identifier: Apache-2.0
"""Exceptions and warnings of the package."""

from __future__ import annotations


class Error(RuntimeError):
    """Data or system failed.

    Attributes
    ----------
    path : str
        File that it is about, or "".
    stage : str
        Stage that found it: dataset, storage, decode, augment, batch, pipeline; or "".
    cause : str
        What was wrong, without path and stage.
    """

    def __init__(self, message: str, path: str = "", stage: str = "", cause: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.stage = stage
        self.cause = cause or message


class Closed(Error):
    """The loader was closed while, or before, a batch was asked for."""


class DataWarning(UserWarning):
    """Something about the data set is odd: rows not used, pictures left out, idle augmentations."""
