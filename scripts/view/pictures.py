"""The pictures of the guide: the live view of a run in light and dark.

    pictures.py DIR FOLDER
"""

import os
import sys

from playwright.sync_api import sync_playwright
from served import OPTIONS, go, page_of, served, settled

directory, folder = sys.argv[1:]

with sync_playwright() as playwright, served("view", directory) as view:
    browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=OPTIONS)
    for scheme in ["light", "dark"]:
        with page_of(browser, view.address, scheme=scheme) as page:
            first, last = (float(page.get_attribute("#slider", end)) for end in ["min", "max"])
            go(page, first + 0.4 * (last - first))
            box = page.locator("#scene").bounding_box()
            page.mouse.click(box["x"] + 0.62 * box["width"], box["y"] + 0.4 * box["height"])
            page.mouse.wheel(0, -250)
            page.focus("#scene")
            for key in ["ArrowRight"] * 4 + ["ArrowDown"] * 2:
                page.keyboard.press(key)
            # The trail comes snapshot by snapshot.
            page.wait_for_timeout(8000)
            settled(page)
            page.screenshot(path=f"{folder}/view-{scheme}.png")
    browser.close()
