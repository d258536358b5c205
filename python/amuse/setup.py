"""Puts the worker, which is a Rust program, into the package.

The worker is the file that the variable TISANE_WORKER names, or one that stands in amuse_tisane/ already; without either
it is built by cargo from the sources around this folder.
"""

import os
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
WORKER = "tisane_worker"


def worker() -> Path:
    """Return the path of the worker; builds it if there is none."""
    given = os.environ.get("TISANE_WORKER")
    if given:
        return Path(given)
    packaged = HERE / "amuse_tisane" / WORKER
    if packaged.exists():
        return packaged
    top = HERE.parent.parent
    command = ["cargo", "build", "--release", "--locked", "--package", "tisane-amuse"]
    subprocess.run(command, cwd=top, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    return top / target / "release" / WORKER


class BuildWithWorker(build_py):
    """Copies the worker beside the modules."""

    def run(self):
        super().run()
        place = Path(self.build_lib) / "amuse_tisane" / WORKER
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(worker(), place)
        place.chmod(0o755)


class PlatformWheel(bdist_wheel):
    """Wheel for this kind of machine and any Python 3: it contains a program, but no extension module."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(cmdclass={"build_py": BuildWithWorker, "bdist_wheel": PlatformWheel})
