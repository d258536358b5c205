"""Makes the pictures of the guide: the live view of a run in light and dark.

    pictures.py DIR FOLDER
"""

import os
import sys

from PIL import Image
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
            page.mouse.click(box["x"] + 0.6 * box["width"], box["y"] + 0.42 * box["height"])
            page.mouse.wheel(0, -250)
            # From another side, as a user would turn it.
            page.mouse.move(500, 600)
            page.mouse.down()
            page.mouse.move(380, 570, steps=4)
            page.mouse.up()
            # The trail comes snapshot by snapshot.
            page.wait_for_timeout(8000)
            settled(page)
            path = f"{folder}/view-{scheme}.png"
            page.screenshot(path=path)
            Image.open(path).convert("RGB").save(path, optimize=True)
    browser.close()
