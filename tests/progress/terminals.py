"""A terminal for tests: a process whose standard error is one, and what can be seen on it."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

_CODE = re.compile(r"\x1b\[([\d;?]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Screen:
    """Replays the codes of a live display: lines go up, are erased and written again."""

    def __init__(self):
        self.lines, self.row, self.column = [""], 0, 0

    def write(self, text):
        for match in _CODE.finditer(text):
            number, letter, control, plain = match.groups()
            if control == "\r":
                self.column = 0
            elif control == "\n":
                self.row += 1
                if self.row == len(self.lines):
                    self.lines.append("")
            elif letter == "A":
                self.row = max(self.row - int(number or 1), 0)
            elif letter == "K":
                self.lines[self.row] = ""
            elif letter not in ("m", None):
                raise AssertionError(f"the display sends {match.group()!r}")
            elif plain:
                line = self.lines[self.row].ljust(self.column)
                after = self.column + len(plain)
                self.lines[self.row] = line[: self.column] + plain + line[after:]
                self.column = after

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).rstrip("\n")


def run_on_terminal(program, *arguments, folder=None, term="xterm", send=(), stdout=None):
    """Exit status, all screens as they followed one another, and what was sent, raw.

    Parameters
    ----------
    send : sequence of (text, signal), each signal being sent once its text is on the terminal
    """
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=os.environ | {"TERM": term, "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=slave if stdout is None else stdout,
        stderr=slave,
    )
    os.close(slave)
    sent, signals = b"", list(send)
    # At the end of the process a read is an error.
    with suppress(OSError):
        while chunk := os.read(master, 1 << 16):
            sent += chunk
            while signals and signals[0][0].encode() in sent:
                process.send_signal(signals.pop(0)[1])
    os.close(master)
    raw, screen, screens = sent.decode(), Screen(), []
    # A live display begins each of its screens with an empty line.
    for part in re.split(r"(?=\r\x1b\[2K)", raw):
        screen.write(part)
        screens.append(screen.text)
    return process.wait(), screens, raw
