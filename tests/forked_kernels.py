"""Kernels for `pytest --nbval` that begin with the chapters' imports done.

Every notebook still has a process of its own. It is forked from one that has imported what chapters
import, which takes a kernel longer than many a chapter, and that holds the records which most read.
"""

import multiprocessing
import os
import time

from jupyter_client.provisioning import local_provisioner

IMPORTS = [
    "ipykernel.debugger",
    "ipykernel.kernelapp",
    "matplotlib.pyplot",
    "scipy.stats",
    "seaborn",
    "statsmodels.api",
    "transformers.processing_utils",
    "sci_book.pipeline.pocket_data",
    "sci_book.papers.shared.chapters",
    "sci_book.pipeline.ledger",
    "tests.warm_records",
]


def pytest_configure():
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel does
    multiprocessing.get_context("forkserver").set_forkserver_preload(IMPORTS)
    local_provisioner.launch_kernel = ForkedKernel


class ForkedKernel:
    """A forked kernel, with what a provisioner asks of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, command, *, env, cwd=None, **_):
        context = multiprocessing.get_context("forkserver")
        _, _, _, *arguments = command  # python -m ipykernel_launcher …
        self._process = context.Process(target=_serve, args=(arguments, cwd or os.getcwd(), env))
        self._process.start()
        self.pid = self._process.pid
        self.kill, self.terminate = self._process.kill, self._process.terminate
        while os.getpgid(self.pid) == os.getpgid(0):  # which the provisioner sends signals to
            time.sleep(0.001)

    def poll(self):
        return self._process.exitcode

    def wait(self):
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


def _serve(arguments, cwd, env):
    os.setsid()
    os.chdir(cwd)
    os.environ.update(env)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance(argv=arguments)
