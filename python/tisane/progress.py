"""Progress on the screen."""

import sys
import time


class Line:
    """A line on standard error that shows how far an integration is; called with its time."""

    def __init__(self, start: float, end: float):
        self.start, self.end, self.began, self.shown = start, end, time.monotonic(), 0.0

    def __call__(self, t: float) -> None:
        share = (t - self.start) / (self.end - self.start) if self.end > self.start else 1.0
        self._show(share, f"t = {t:<12.6g} of {self.end:g}")

    def _show(self, share: float, text: str) -> None:
        now = time.monotonic()
        if now - self.shown < 0.2 and share < 1:
            return
        self.shown = now
        sys.stderr.write(f"\r{text}  {100 * share:5.1f} %  {now - self.began:.1f} s ")
        sys.stderr.flush()

    def finish(self) -> None:
        """Ends the line."""
        sys.stderr.write("\n")
        sys.stderr.flush()


class MembersLine(Line):
    """A line that shows how many members of an ensemble have ended."""

    def __init__(self):
        super().__init__(0.0, 1.0)

    def __call__(self, done: float, members: int) -> None:
        self._show(done / members, f"{done:.1f} of {members} members")


def reporter(progress, start: float, end: float):
    """What the engine calls with the time: for `progress` true a line on the screen, or the given function, or None."""
    if progress is True:
        return Line(start, end)
    return progress or None
