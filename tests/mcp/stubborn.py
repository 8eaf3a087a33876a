"""A server that does not want to end: run with where to note who asked. It begins at once."""

import signal
import sys
import time
from pathlib import Path


def stay(note: Path) -> None:
    """Answer nothing, note what asks for an end, and end for nothing but a kill."""

    def asked(how: str) -> None:
        with note.open("a") as file:
            file.write(f"{how};")

    signal.signal(signal.SIGTERM, lambda *_: asked("SIGTERM"))
    note.touch()  # from now on it is stubborn
    sys.stdin.read()
    asked("end of input")
    while True:
        time.sleep(60)


if __name__ == "__main__":
    stay(Path(sys.argv[1]))
