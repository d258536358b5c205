"""The pages of the guide on Python: every block of code runs."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import REPOSITORY

# Pages with their least number of blocks.
PAGES = {"python-tutorial.md": 10, "tutorial-sweep.md": 1}


@pytest.mark.parametrize("page", PAGES)
def test_the_tutorial_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (REPOSITORY / "docs" / "src" / page).read_text(encoding="utf-8")
    # Blocks that begin with the name of a file are scripts, which the test of the commands of a page runs.
    blocks = [block for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) if not block.startswith("# ")]
    assert len(blocks) >= PAGES[page]
    names = {"__name__": "tutorial"}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        try:
            # Blank lines before it, so that a traceback has the line of the page.
            exec(compile("\n" * line + block, page, "exec"), names)
        except Exception as error:
            pytest.fail(f"{type(error).__name__} in the block at line {line}: {error}")


def test_the_cluster_with_binaries_is_drawn(program, tmp_path):
    (tmp_path / "examples").mkdir()
    for name in ["cluster-1k.dat", "binaries.py", "binding.py"]:
        shutil.copy(REPOSITORY / "examples" / name, tmp_path / "examples")
    text = (REPOSITORY / "docs" / "src" / "tutorial-binaries.md").read_text(encoding="utf-8")
    programs = [str(program.parent), os.path.dirname(sys.executable), os.environ["PATH"]]
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        script = re.match(r"# ([\w.]+\.\w+)\n", block)
        if script:
            (tmp_path / script[1]).write_text(block, encoding="utf-8")
        elif language == "sh":
            environment = {**os.environ, "PATH": os.pathsep.join(programs)}
            subprocess.run(["sh", "-e", "-c", block], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert (tmp_path / "binding.png").stat().st_size > 10_000
