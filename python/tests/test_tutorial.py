"""The pages of the guide on Python: every block of code runs."""

import re

import pytest

from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "src" / "python-tutorial.md").read_text(encoding="utf-8")


def test_the_tutorial_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 10
    names = {"__name__": "tutorial"}
    for block in blocks:
        line = PAGE[: PAGE.index(block)].count("\n")
        try:
            # Blank lines before it, so that a traceback has the line of the page.
            exec(compile("\n" * line + block, "python-tutorial.md", "exec"), names)
        except Exception as error:
            pytest.fail(f"{type(error).__name__} in the block at line {line}: {error}")
