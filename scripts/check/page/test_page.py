"""Tests the page of the live view in a browser: reads pixels, presses keys, clicks on particles."""

import io
import itertools
import os
import pathlib
import re
import shutil
import subprocess

import numpy
import pytest
from PIL import Image
from playwright.sync_api import Error, sync_playwright
from served import OPTIONS, PROGRAM, drawn, go, page_of, plummer, run, served, settled, until

PICTURES = pathlib.Path(os.environ["TISANE_PICTURES"])
DARK, LIGHT = (13, 15, 18), (255, 255, 255)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    return run(tmp_path_factory.mktemp("small"), "small", plummer("small", 1024, 2.0, "1/8"))


@pytest.fixture(scope="session")
def view(small):
    with served("view", small) as view:
        yield view


@pytest.fixture
def page(browser, view):
    with page_of(browser, view.address) as page:
        yield page


def pixels(page, name="#scene"):
    """What is seen in a place, as rows of RGB."""
    box = page.locator(name).bounding_box()
    return numpy.asarray(Image.open(io.BytesIO(page.screenshot(clip=box))).convert("RGB")).astype(int)


def scene(page):
    """The middle of the scene, where only particles are."""
    seen = pixels(page)
    height, width, _ = seen.shape
    return seen[height // 4 : 3 * height // 4, width // 4 : 3 * width // 4]


def drawn_part(seen, ground=DARK):
    """The part of the pixels that is not ground."""
    return float((abs(seen - numpy.array(ground)).sum(axis=2) > 30).mean())


def differ(a, b):
    """The part of the pixels that differ."""
    return float((abs(a - b).sum(axis=2) > 24).mean())


def time_of(page):
    return float(re.search(r"[-\d.]+", page.inner_text("#time").replace("−", "-")).group())


def test_it_draws_the_particles(page):
    seen = scene(page)
    assert 0.02 < drawn_part(seen) < 0.98
    # Most of them in the middle, as in any cluster.
    height, width, _ = seen.shape
    core = seen[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3]
    assert drawn_part(core) > 1.3 * drawn_part(seen)
    # In many colours, as their speeds differ.
    bright = seen[seen.sum(axis=2) > 150]
    assert len({tuple(colour // 16) for colour in bright}) > 20
    assert "N = 1,024" in page.inner_text("#facts")
    assert page.inner_text("#chip") == "finished"
    page.screenshot(path=PICTURES / "dark.png")


def test_the_time_slider_moves_them(page):
    start = scene(page)
    go(page, 1.0)
    middle = scene(page)
    assert differ(start, middle) > 0.02
    assert time_of(page) == 1.0
    go(page, 1.03)
    assert 0 < differ(middle, scene(page)) < differ(start, middle) * 1.5, "between snapshots they move on"
    go(page, 0.0)
    assert differ(start, scene(page)) == 0, "the same moment is the same picture"


def test_it_plays_and_stops(page):
    start = scene(page)
    page.select_option("#speed", "4")
    page.click("#play")
    until(lambda: time_of(page) > 0.3)
    assert differ(start, scene(page)) > 0.02
    page.keyboard.press("Escape")
    page.focus("#scene")
    page.keyboard.press(" ")
    paused = time_of(page)
    page.wait_for_timeout(500)
    assert time_of(page) == paused
    page.keyboard.press(" ")
    until(lambda: time_of(page) == 2.0)
    until(lambda: page.get_attribute("#play", "aria-label") == "Play")
    page.click("#loop")
    page.click("#play")
    until(lambda: 0.1 < time_of(page) < 1.0)


def test_keys_step_through_snapshots_and_turn(page):
    page.focus("#scene")
    page.keyboard.press(".")
    page.keyboard.press(".")
    settled(page)
    assert time_of(page) == 0.25
    page.keyboard.press(",")
    settled(page)
    assert time_of(page) == 0.125
    before = scene(page)
    for key in ["ArrowLeft", "ArrowUp", "+", "x"]:
        was = scene(page)
        page.keyboard.press(key)
        settled(page)
        assert differ(was, scene(page)) > 0.02, key
    page.keyboard.press("0")
    settled(page)
    assert differ(before, scene(page)) == 0


def test_dragging_and_the_wheel_move_the_camera(page):
    before = scene(page)
    page.mouse.move(460, 400)
    page.mouse.down()
    page.mouse.move(600, 430, steps=4)
    page.mouse.up()
    settled(page)
    turned = scene(page)
    assert differ(before, turned) > 0.02
    assert page.is_hidden("#card"), "a drag is no click"
    page.mouse.wheel(0, -300)
    settled(page)
    assert drawn_part(scene(page)) > drawn_part(turned)


def test_a_reload_shows_the_run_again(page, view):
    assert "token" not in page.url and page.url == view.address.split("?")[0]
    before = scene(page)
    page.reload()
    drawn(page)
    assert differ(before, scene(page)) == 0


def test_a_wrong_token_shows_nothing(browser, view):
    context = browser.new_context()
    page = context.new_page()
    for address in [view.address[:-1] + ("0" if view.address[-1] != "0" else "1"), view.address.split("?")[0]]:
        answer = context.request.get(address)
        assert (answer.status, answer.body()) == (403, b"")
        with pytest.raises(Error):
            page.goto(address)
    # Another page cannot ask with the cookie of who came in.
    page = context.new_page()
    assert page.goto(view.address).status == 200
    other = context.new_page()
    other.goto("about:blank")
    asked = f"fetch('{view.address.split('?')[0]}api/state', {{credentials: 'include'}}).then(() => 'read', () => 'closed')"
    assert other.evaluate(asked) == "closed"
    context.close()


def test_two_views_leave_each_other_alone(browser, small, view):
    with served("view", small) as second, page_of(browser, view.address) as page:
        other = page.context.new_page()
        other.goto(second.address)
        drawn(other)
        page.bring_to_front()
        page.reload()
        drawn(page)
        assert second.interrupt() == 0


def test_a_click_follows_a_particle(page):
    box = page.locator("#scene").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector("#card:not([hidden])")
    name = page.inner_text("#card-id")
    assert re.fullmatch(r"Particle \d+", name)
    facts = page.inner_text("#card-facts")
    assert "9.766 × 10⁻⁴ M" in facts, "the mass, 1/1024"
    go(page, 1.5)
    assert page.inner_text("#card-id") == name
    assert page.inner_text("#card-facts") != facts
    before = scene(page)
    page.select_option("#centre", "followed")
    settled(page)
    assert differ(before, scene(page)) > 0.01
    overlay = "document.getElementById('overlay')"
    inked = f"{overlay}.getContext('2d').getImageData(0, 0, {overlay}.width, {overlay}.height).data.filter((_, k) => k % 4 === 3).reduce((n, a) => n + (a > 60), 0)"
    page.wait_for_timeout(1500)
    with_trail = page.evaluate(inked)
    page.select_option("#trails", "none")
    settled(page)
    assert page.evaluate(inked) < with_trail, "the trail is gone"
    page.click("#unfollow")
    assert page.is_hidden("#card")
    assert page.input_value("#centre") == "mass"


def titles(page):
    return [title.split("\n")[0] for title in page.locator(".chart:visible figcaption").all_inner_texts()]


def test_the_plots_show_the_diagnostics(page, small):
    radii = ["Lagrangian radii"] if (small / "cluster.csv").is_file() else []
    assert titles(page) == ["Energy error |ΔE/E₀|", *radii, "Time steps", "Rate", "Virial ratio T/|U|"]
    for chart in page.locator(".chart:visible canvas").all():
        assert chart.get_attribute("aria-label")
        ink = chart.evaluate("(c) => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size")
        assert ink > 10
    page.locator(".chart:visible .u-over").first.click()
    settled(page)
    assert abs(time_of(page) - 1.0) < 0.05, "a click in a plot goes to that time"
    assert page.locator(".chart:visible canvas").last.get_attribute("aria-label").startswith("Virial ratio T/|U|, 0.")


RECORD = """() => {
    window.written = [];
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const wide = this.measureText(text).width;
        const left = x - { left: 0, center: wide / 2, right: wide }[this.textAlign];
        window.written.push({ text, left, right: left + wide, y });
        write.call(this, text, x, y);
    };
}"""


def time_axis(page, name):
    """The labels of the time axis of the first plot, which is drawn anew, and the width of its canvas."""
    width = page.locator(".chart:visible canvas").first.bounding_box()["width"]
    page.evaluate(RECORD)
    page.click("#theme")
    settled(page)
    written = page.evaluate("window.written")
    # uPlot writes the name of an axis first.
    name_at = next(k for k, one in enumerate(written) if one["text"] == name)
    labels = list(itertools.takewhile(lambda one: one["y"] == written[name_at + 1]["y"], written[name_at + 1 :]))
    return labels, written[name_at], width


@pytest.mark.parametrize("t_end", [1.0, 2.0, 7.0])
def test_the_time_axis_has_labels_over_its_whole_length(browser, tmp_path, t_end):
    directory = run(tmp_path, "axis", plummer("axis", 16, t_end, "1/8"))
    with served("view", directory) as view, page_of(browser, view.address) as page:
        labels, name, width = time_axis(page, "time [T]")
        times = [float(one["text"]) for one in labels]
        step = times[1] - times[0]
        assert times[0] == 0 and 0 <= t_end - times[-1] < step, times
        assert all(abs(b - a - step) < 1e-6 for a, b in zip(times, times[1:])), times
        assert all(a["right"] < b["left"] for a, b in zip(labels, labels[1:])), labels
        assert labels[-1]["right"] <= width
        # The name stands below all of them.
        assert all(name["y"] >= one["y"] + 11 for one in labels)


def test_a_run_that_measures_its_cluster_shows_it(browser, small, tmp_path):
    copy = shutil.copytree(small, tmp_path / "measured")
    radii = ["core_radius", "lagrangian_radius_0010", "lagrangian_radius_0500", "lagrangian_radius_0900"]
    lines = [",".join(["time", *(f"density_centre_{k}" for k in "xyz"), *radii])]
    lines += [f"{k / 8},0.5,{k / 32},-0.25,0.3,nan,{0.7 + k / 100},2.0" for k in range(17)]
    (copy / "cluster.csv").write_text("\n".join(lines) + "\n")
    with served("view", copy) as view, page_of(browser, view.address) as page:
        assert titles(page)[1] == "Lagrangian radii"
        keys = page.locator(".chart:visible").nth(1).locator("li").all_inner_texts()
        assert keys == ["90 %", "50 %", "1 %", "core"]
        go(page, 1.0)
        assert page.locator(".chart:visible canvas").nth(1).get_attribute("aria-label") == "Lagrangian radii, 90 %: 2 L at 1"
        before = scene(page)
        page.select_option("#centre", "density")
        settled(page)
        assert differ(before, scene(page)) > 0.02


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_why_explains_the_run(browser, view, scheme):
    with page_of(browser, view.address, scheme=scheme) as page:
        assert page.get_attribute("#why-open", "data-state") == ""
        page.click("#why-open")
        page.wait_for_selector("#why-page .answer")
        settled(page)
        assert page.inner_text("#why-page .answer").startswith("Finished: t = 2 T after ")
        headings = page.locator("#why-page h3").all_inner_texts()
        assert headings[1:] == ["Particles with the most steps at t = 2 T (checkpoint.hdf5)", "Energy error", "Speed and forces", "Disk and checkpoints"]
        first = page.locator("#why-page table").first
        assert first.locator("th").first.inner_text() == "to t [T]" and first.locator("tbody tr").count() == 8
        wide, inner = page.evaluate("[document.getElementById('why').scrollWidth, document.getElementById('why').clientWidth]")
        assert wide <= inner
        page.screenshot(path=PICTURES / f"why-{scheme}.png")
        page.keyboard.press(".")
        assert time_of(page) == 0.0, "the run behind it stays"
        page.keyboard.press("Escape")
        assert page.is_hidden("#why-page")


def test_a_run_that_failed_says_so_and_what_to_do(browser, tmp_path):
    config = ('[run]\nname = "burrau"\nt_end = 20\n[initial.pythagorean]\n[integrator.hermite4]\ndt_max = "1/64"\n'
              'dt_min = "2^-16"\n[output]\ninterval = "1/4"\n')
    (tmp_path / "burrau.toml").write_text(config)
    ended = subprocess.run([PROGRAM, "run", tmp_path / "burrau.toml", "--output", tmp_path / "o", "--quiet"], stderr=subprocess.DEVNULL)
    assert ended.returncode == 4
    with served("view", tmp_path / "o") as view, page_of(browser, view.address, size=(390, 844)) as page:
        assert page.inner_text("#chip") == "ended by an error"
        assert page.get_attribute("#why-open", "data-state") == "lost"
        page.focus("#scene")
        page.keyboard.press("w")
        page.wait_for_selector("#why-page .answer")
        assert "below dt_min" in page.inner_text("#why-page .answer")
        assert "tisane resume" in page.locator("#why-page ol").inner_text()
        wide, inner = page.evaluate("[document.getElementById('why').scrollWidth, document.getElementById('why').clientWidth]")
        assert wide <= inner
        page.screenshot(path=PICTURES / "why-narrow.png")
        shutil.rmtree(tmp_path / "o")
        page.trouble = Ignored()
        page.click("#why-again")
        until(lambda: page.inner_text("#why-page").startswith("not known: "))
        page.trouble = []


def test_light_and_dark(browser, view):
    with page_of(browser, view.address, scheme="light") as page:
        assert 0.02 < drawn_part(scene(page), LIGHT) < 0.98
        assert tuple(pixels(page)[-3, 400]) == LIGHT
        page.screenshot(path=PICTURES / "light.png")
        page.click("#theme")
        page.reload()
        drawn(page)
        assert tuple(pixels(page)[-3, 400]) == DARK, "the choice is kept"


@pytest.mark.parametrize("size", [(1280, 800), (1024, 640), (820, 700), (390, 844)])
def test_nothing_is_cut_off(browser, view, size):
    with page_of(browser, view.address, size=size) as page:
        wide, high = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        assert wide <= size[0]
        assert high <= size[1] or size[0] <= 820, "a narrow page scrolls, a wide one does not"
        for name in ["#play", "#slider", "#live", "#theme"]:
            box = page.locator(name).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] and box["y"] + box["height"] <= size[1], name
        page.screenshot(path=PICTURES / f"{size[0]}.png")


def test_a_cluster_on_an_orbit_has_a_map(browser, view, tmp_path):
    text = plummer("orbit", 1024, 8.0, "1/2").replace("[output]", "[external.point-mass]\nmass = 1e4\n[orbit]\ncircular = 100.0\n[output]")
    folder = run(tmp_path, "orbit", text)
    with served("view", folder) as there, page_of(browser, there.address) as page:
        assert page.is_visible("#map") and "Orbit" in page.inner_text("#map")
        go(page, 0.0)
        start = pixels(page, "#map-picture")
        # The accent colour is the cluster: right of the middle, and later above it.
        place = lambda seen: numpy.argwhere(abs(seen - numpy.array((95, 193, 238))).sum(axis=2) < 40).mean(axis=0)
        go(page, 8.0)
        end = pixels(page, "#map-picture")
        height, width, _ = start.shape
        assert place(start)[1] > 0.8 * width and abs(place(start)[0] - height / 2) < 3
        assert place(end)[0] < place(start)[0] - 10
        # The card of a particle that is followed stands below it.
        box = page.locator("#scene").bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#card:not([hidden])")
        card, there = [page.locator(name).bounding_box() for name in ("#card", "#map")]
        assert card["y"] > there["y"] + there["height"]
        page.screenshot(path=PICTURES / "orbit.png")
    with page_of(browser, view.address) as page:
        assert not page.is_visible("#map")


def test_stars_that_age_have_their_colours(browser, view, tmp_path):
    text = """[run]
name = "aging"
t_end = 12.0
[units]
mass = "Msun"
length = "pc"
velocity = "km/s"
[initial.plummer]
n = 400
half_mass_radius = 2.0
[initial.masses]
function = "salpeter"
m_min = 0.2
[softening]
epsilon = 0.05
[output]
interval = 4.0
[stellar_evolution]
kick_dispersion = 1.0
"""
    folder = run(tmp_path, "aging", text)
    with served("view", folder) as there, page_of(browser, there.address) as page:
        until(lambda: page.input_value("#colour") == "temperature")
        legend = page.inner_text("#legend")
        assert "temperature [K]" in legend and all(name in legend for name in ("white dwarf", "neutron star", "black hole"))
        # Cool stars are orange, hot ones blue, and nothing but a white dwarf has the green of the colours of speeds.
        seen = scene(page)
        red, green, blue = numpy.moveaxis(seen[abs(seen - numpy.array(DARK)).sum(axis=2) > 120], 1, 0)
        assert (red > blue + 50).mean() > 0.05 and (blue > red + 30).mean() > 0.05
        assert (green > numpy.maximum(red, blue) + 20).mean() < 0.01
        # Another quantity can be chosen, and stays when the time changes.
        page.select_option("#colour", "speed")
        go(page, 12.0)
        assert page.input_value("#colour") == "speed" and "speed" in page.inner_text("#legend")
        assert differ(seen, scene(page)) > 0.01
        page.select_option("#colour", "temperature")
        box = page.locator("#scene").bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        until(lambda: "main sequence" in page.inner_text("#card") and "luminosity" in page.inner_text("#card"))
        page.screenshot(path=PICTURES / "aging.png")
    with page_of(browser, view.address) as page:
        assert page.input_value("#colour") == "speed" and page.locator('#colour [value="temperature"]').is_disabled()


def test_a_damaged_snapshot_is_named_and_left_out(browser, small, tmp_path):
    copy = shutil.copytree(small, tmp_path / "damaged")
    path = copy / "snapshots" / "snapshot_0003.hdf5"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with served("view", copy) as view, page_of(browser, view.address) as page:
        page.trouble = Ignored()
        go(page, 0.375)
        until(lambda: "snapshot 3 is skipped" in page.inner_text("#notice"))
        go(page, 0.5)
        assert drawn_part(scene(page)) > 0.02


class Ignored(list):
    """What a browser says of an answer that is no success is no trouble where that is what is tested."""

    def append(self, text):
        if "503" not in text:
            super().append(text)


def test_a_hundred_thousand_particles(browser, tmp_path):
    config = plummer("big", 100_000, 0.125, "1/8", integrator="leapfrog")
    with served("view", run(tmp_path, "big", config)) as view, page_of(browser, view.address) as page:
        assert "N = 100,000" in page.inner_text("#facts")
        before = scene(page)
        assert drawn_part(before) > 0.1
        page.screenshot(path=PICTURES / "100000.png")
        page.click("#loop")
        page.click("#play")
        rate = page.evaluate("""new Promise((done) => {
            const began = performance.now();
            let frames = -1;
            const count = (now) => (frames++, now - began < 5000 ? requestAnimationFrame(count) : done((1000 * frames) / (now - began)));
            requestAnimationFrame(count);
        })""")
        assert differ(before, scene(page)) > 0.02
        kind = page.evaluate("""(() => {
            const gl = document.createElement('canvas').getContext('webgl2');
            return gl.getParameter(gl.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL);
        })()""")
        print(f"100000 particles play at {rate:.1f} frames/s, drawn by {kind}")


def test_a_run_under_way_is_followed(browser, tmp_path):
    (tmp_path / "long.toml").write_text(plummer("long", 512, 1000, "1/16", dt="1/16"))
    arguments = ["run", tmp_path / "long.toml", "--output", tmp_path / "long", "--threads", "1", "--view", "--quiet"]
    with served(*arguments) as view, page_of(browser, view.address) as page:
        assert page.inner_text("#chip") == "running to 1000 T"
        assert page.get_attribute("#live", "aria-pressed") == "true"
        first = time_of(page)
        until(lambda: time_of(page) > first + 0.2)
        before = scene(page)
        until(lambda: differ(before, scene(page)) > 0.02)
        page.click("#live")
        page.wait_for_timeout(1500)
        stays = time_of(page)
        page.wait_for_timeout(2000)
        assert time_of(page) == stays, "who leaves the newest stays where they are"
        page.screenshot(path=PICTURES / "running.png")
        assert view.interrupt() == 3
        until(lambda: page.inner_text("#chip") == "no connection")
        page.trouble.clear()
