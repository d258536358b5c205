"""A live view that the program serves, and a page of it in a browser."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager

PROGRAM = os.environ["TISANE"]
# Software rendering, as there may be no graphics card; without the rest Chromium asks for hosts of its maker.
OPTIONS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
           "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


def run(folder, name, config, *options):
    """A finished run of a configuration; its directory."""
    path = folder / f"{name}.toml"
    path.write_text(config)
    subprocess.run([PROGRAM, "run", path, "--output", folder / name, "--quiet", *options], check=True)
    return folder / name


def plummer(name, n, t_end, interval, integrator="hermite4", dt="1/8", outer=""):
    """A configuration of a Plummer sphere."""
    step = f'nu = 0.02\ndt_max = "{dt}"\ndt_min = "2^-26"' if integrator == "hermite4" else f'dt = "{dt}"'
    return (f'[run]\nname = "{name}"\nt_end = {t_end}\n[initial.plummer]\nn = {n}\nseed = 5\n[softening]\nepsilon = "1/64"\n'
            f'[integrator.{integrator}]\n{step}\n[output]\ninterval = "{interval}"\n{outer}')


class Served:
    """A process that serves a view, and the address it told."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://\S+", line):
                self.address = found.group()
                return
        raise RuntimeError(f"no address told, exit code {self.process.wait()}")

    def interrupt(self):
        """Ends it as Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        self.process.stdout.read()
        return self.process.wait(60)


@contextmanager
def served(*arguments):
    """A view that ends with the block."""
    view = Served(*arguments)
    try:
        yield view
    finally:
        view.process.kill()
        view.process.wait()


@contextmanager
def page_of(browser, address, size=(1280, 800), scheme="dark"):
    """A page of a view that has drawn its first frame. Nothing may go wrong on it, and nothing be asked of anybody else."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    page.trouble, page.asked = [], []
    # A canvas that a test reads out tells its reader how to be quicker.
    told = lambda message: message.type in ("error", "warning") and "willReadFrequently" not in message.text
    page.on("console", lambda message: told(message) and page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(f"{error.message}\n{error.stack}"))
    page.on("request", lambda request: page.asked.append(request.url))
    try:
        page.goto(address)
        drawn(page)
        yield page
        home = address.split("?")[0]
        assert [url for url in page.asked if not url.startswith(home)] == []
        assert page.trouble == []
    finally:
        context.close()


def drawn(page):
    """Waits until particles are drawn: then the legend has its numbers."""
    until(lambda: page.inner_text("#legend-high"))
    settled(page)


def settled(page):
    """Waits until what was asked for is on the screen."""
    page.wait_for_timeout(300)
    # A page in the background gets no animation frames.
    page.evaluate("""new Promise((done) => {
        requestAnimationFrame(() => requestAnimationFrame(done));
        setTimeout(done, 5000);
    })""")
    page.wait_for_timeout(300)


def go(page, time_):
    """Shows a time."""
    page.evaluate("""(time) => {
        const slider = document.getElementById('slider');
        slider.value = time;
        slider.dispatchEvent(new Event('input'));
    }""", time_)
    settled(page)


def until(what, seconds=60):
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.1)
