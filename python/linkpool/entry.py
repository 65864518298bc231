"""Where the `linkpool` command begins: Ctrl-C ends it within a second at any moment.

Until the command line is loaded there is nothing to clean up, and Ctrl-C ends the process at once.
Later it raises `KeyboardInterrupt`, as Python does. A library may swallow that, and the main
thread does not see it while it is in compiled code; so a thread of its own hears of the signal
too, and ends the process if that is still there when the others have had time to clean up. Either
way what was being written is removed; what `kill -9` leaves on the disk, the next command removes.
"""

import os
import signal
import sys
import threading
import time
from typing import NoReturn

CLEANUP_S = 0.5
"""The time in which a command must stop and remove its incomplete files. The rest of the second is
for Linux, which takes the process's memory back before the process is seen to end."""

INTERRUPTED = 130
"""The exit code of a command that was interrupted: 128 + SIGINT, as in shells."""


def main() -> NoReturn:
    """Run the `linkpool` command and end the process."""
    heeds = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # else: run by nohup, say
    if heeds:
        signal.signal(signal.SIGINT, lambda *_: _leave())
    from linkpool import cli

    if heeds:
        _watch()
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        cli.main()
    except KeyboardInterrupt:
        _leave()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        # Threads may be in compiled code still: to wait for them would take longer than a second.
        sys.stdout.flush()
        sys.stderr.flush()
        _abandon()
        os._exit(INTERRUPTED)
    raise SystemExit(0)


def _watch() -> None:
    """Start the thread that ends the process if Ctrl-C does not."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    threading.Thread(target=_guard, args=(read,), daemon=True).start()


def _guard(signals: int) -> None:
    while signal.SIGINT not in os.read(signals, 1):
        pass
    time.sleep(CLEANUP_S)
    _leave()


def _abandon() -> None:
    """Remove what is being written."""
    publish = sys.modules.get("linkpool.publish")  # it may not have been loaded yet
    if publish is not None:
        publish.abandon()


def _leave() -> NoReturn:
    _abandon()
    show_cursor = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar may have hidden it
    os.write(2, show_cursor + b"\ninterrupted\n" if show_cursor else b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
