#!/usr/bin/env python3
"""Checks that relative links in Markdown files point at files that exist.

SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")


def main() -> int:
    root = pathlib.Path(__file__).resolve().parent.parent
    files = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=True)
    dead = 0
    for name in files.stdout.split():
        text = re.sub(r"```.*?```", "", (root / name).read_text(), flags=re.DOTALL)
        for target in LINK.findall(text):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not (root / name).parent.joinpath(target).exists():
                print(f"{name}: dead link {target}")
                dead += 1
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main())
