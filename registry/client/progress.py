"""A progress bar for terminals."""

import shutil
from typing import TextIO

_WIDTH = 24


class Bar:
    def __init__(self, out: TextIO, *, shown: bool) -> None:
        self._out = out
        self._shown = shown

    def __call__(self, done: int, total: int, name: str) -> None:
        if not self._shown or not total:
            return
        filled = _WIDTH * done // total
        line = f"{'█' * filled}{'░' * (_WIDTH - filled)} {done:,} of {total:,}  {name}"
        columns = shutil.get_terminal_size().columns
        self._out.write(f"\r\x1b[K{line[: columns - 1]}")
        self._out.flush()

    def clear(self) -> None:
        if self._shown:
            self._out.write("\r\x1b[K")
            self._out.flush()
