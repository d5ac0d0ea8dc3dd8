"""Draw static/social.png, the image of link previews: `python -m tests.support.social_card`."""

import base64

from playwright.sync_api import sync_playwright

from tests.journeys.conftest import ARGUMENTS, find_chromium
from tests.servers.product import ROOT

IMAGE = ROOT / "static" / "social.png"
FONT = ROOT / "static" / "vendor" / "inter" / "Inter.woff2"
# The headline of the landing page and a result.
PAGE = """
<style>
  @font-face { font-family: Inter; font-weight: 400 700; src: url(data:font/woff2;base64,FONT); }
  body { margin: 0; padding: 88px 96px; background: #fff; color: #16181d;
         font: 600 72px/1.15 Inter; letter-spacing: -0.02em; }
  .brand { display: flex; gap: 20px; align-items: center; font-size: 36px; letter-spacing: 0; }
  h1 { margin: 64px 0 72px; font: inherit; text-wrap: balance; }
  .result { display: flex; align-items: center; gap: 28px; letter-spacing: 0;
            font: 400 32px ui-monospace, monospace; color: #505866; }
  .badge { padding: 6px 28px; border: 2px solid #edce95; border-radius: 99px;
           background: #fff5e2; color: #824d00; font: 500 32px Inter; }
  footer { position: fixed; inset: auto 0 0; height: 16px; background: #4f46e5; }
</style>
<div class="brand">
  <svg width="48" height="48" viewBox="0 0 24 24" fill="none" stroke="#4a42d8" stroke-width="2">
    <path d="m22 7-8.991 5.727a2 2 0 0 1-2.009 0L2 7"/>
    <rect x="2" y="4" width="20" height="16" rx="2"/>
  </svg>
  Email Validation
</div>
<h1>Catch bad email addresses before you send</h1>
<div class="result"><span class="badge">risky</span> jane@gmial.com → jane@gmail.com</div>
<footer></footer>
"""


def draw() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1200, "height": 630})
        page.set_content(PAGE.replace("FONT", base64.b64encode(FONT.read_bytes()).decode()))
        page.evaluate("document.fonts.ready")
        page.screenshot(path=IMAGE)
        browser.close()


if __name__ == "__main__":
    draw()
