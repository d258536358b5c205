"""The figures of the program, `tisane plot`, as objects: Jupyter shows them, and they are saved."""

import subprocess
import sys
import tempfile
from pathlib import Path

from .errors import InputError

#: Grounds of figures: for paper and for screens.
THEMES = ("light", "dark")


class Figure:
    """A figure of a run or an ensemble, as SVG. Jupyter shows it; `save` writes it as SVG or PNG.

    Attributes: `name`, as `structure`; `svg`, the text of the SVG; `png`, the bytes of the PNG.
    """

    def __init__(self, name: str, svg: str, png: bytes):
        self.name, self.svg, self.png = name, svg, png

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path) -> Path:
        """Writes the figure to a file ending in .svg or .png; returns its path."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        elif path.suffix == ".png":
            path.write_bytes(self.png)
        else:
            raise InputError(f"{path}: expected a name ending in .svg or .png")
        return path

    def __repr__(self) -> str:
        return f"<Figure {self.name}>"


def command() -> list[str]:
    """The program `tisane` of this package, as the first words of a command."""
    return [sys.executable, "-m", "tisane"]


def draw(directory: Path, theme: str) -> tuple[dict[str, Figure], dict[str, str]]:
    """All figures of a directory by their names, and why others are not there, by theirs."""
    if theme not in THEMES:
        raise InputError(f"theme: expected {' or '.join(THEMES)}, found {theme!r}")
    with tempfile.TemporaryDirectory() as folder:
        words = [*command(), "plot", str(directory), "--output", folder, "--theme", theme]
        said = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
        # 8: snapshots that are damaged were left out.
        if said.returncode not in (0, 8):
            raise InputError(said.stderr.strip().removeprefix("error: "))
        ending = "" if theme == "light" else f"-{theme}"
        found = {}
        for path in sorted(Path(folder).glob(f"*{ending}.svg")):
            name = path.stem.removesuffix(ending)
            found[name] = Figure(name, path.read_text(encoding="utf-8"), path.with_suffix(".png").read_bytes())
    missing = (line.removeprefix(f"{directory}: no ").partition(": ") for line in said.stderr.splitlines())
    return found, {name: why for name, colon, why in missing if colon}


def plot(directory: Path, name: str | None, theme: str) -> Figure | dict[str, Figure]:
    """The figure of a name, or all of them by their names.

    InputError with the reason if there is no such figure, and for a directory that cannot be drawn.
    """
    found, missing = draw(directory, theme)
    if name is None:
        return found
    if name not in found:
        why = f": {missing[name]}" if name in missing else ""
        raise InputError(f"{directory}: no figure {name!r}{why}; there are {', '.join(found)}")
    return found[name]
