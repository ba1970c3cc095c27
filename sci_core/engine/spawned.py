"""Worker processes begin by reading the script that asked for them.

Without `if __name__ == "__main__":` around its work, the script then asks for workers again, from
inside a worker. Such a worker leaves here, without a word; the process that it works for says why.
"""

import multiprocessing
import sys

NO_GUARD = 77
"""The exit status of a worker that was asked for workers while it read the script."""

NEEDS_GUARD = 'A script that asks for workers must do its work under `if __name__ == "__main__":`'


def leave_if_reading_the_script() -> None:
    """End this process if it is a worker that is only being started."""
    # What multiprocessing itself asks before it starts a process.
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(NO_GUARD)
