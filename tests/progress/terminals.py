"""A terminal for tests: a process whose standard error is one, and what can be seen on it."""

import os
import pty
import re
import subprocess
import sys
import time

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


def run_on_terminal(program, *arguments, folder=None, term="xterm", send=None, stdout=None):
    """Exit status, all screens as they followed one another, and what was sent, raw.

    Parameters
    ----------
    send : (text, signal), the signal being sent once the text is on the screen
    """
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=os.environ | {"TERM": term, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        stdout=slave if stdout is None else stdout,
        stderr=slave,
    )
    os.close(slave)
    screen, screens, raw = Screen(), [], ""
    until = time.monotonic() + 240
    while time.monotonic() < until:
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:
            break
        if not chunk:
            break
        text = chunk.decode(errors="replace")
        raw += text
        screen.write(text)
        screens.append(screen.text)
        if send is not None and send[0] in screen.text:
            process.send_signal(send[1])
            send = None
    os.close(master)
    return process.wait(timeout=60), screens, raw
