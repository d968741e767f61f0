# SPDX-License-Identifier: Apache-2.0
"""The ``yoload`` command: the program that lies in the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent / "bin" / "yoload"
    if not program.exists():
        sys.exit(f"yoload: {program} is missing: the package was not built with it")
    os.execv(program, ["yoload", *sys.argv[1:]])
