"""A run of the tests ends, whatever they left behind: pykka's threads are not daemons, and one that a failing test did not stop would keep the interpreter waiting."""

import os
import sys
import threading

import pytest

pytest_plugins = ["pytester"]


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    left = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    if left:
        print(f"still running after the last test: {', '.join(left)}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)
