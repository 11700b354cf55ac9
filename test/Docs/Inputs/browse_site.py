"""Opens pages of a site in Chromium. Fails if something that they need is missing, if one reports
an error, or if one does not show what it should. Leaves pictures of them in SHOTS.

usage: browse_site.py BROWSER SITE SHOTS
"""

import functools
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading

# Pages, and what stands in them once their scripts have run.
PAGES = {
    "index.html": "docs/QuickStart.html",
    "docs/Gallery.html": '/Gallery.ipynb"',
    "docs/Dialects/DSV4.html": "dsv4.paged_gather",
    "api/selection.html": 'id="dsv4.topk_paged"',
    "files/examples/topk.mlir.html": "dsv4.topk",
    "search.html?q=topk_paged": '<a href="api/selection.html#dsv4.topk_paged" data-score',
    "search.html?q=quantizer": '<a href="docs/Quantisation.html" data-score',
}


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and keeps what is missing."""

    missing = []

    def log_message(self, *args):
        pass

    def send_error(self, code, *args):
        self.missing.append(f"{code} {self.path}")
        super().send_error(code, *args)


def check(browser, profile, url, page, shown, shot):
    """What is wrong with a page."""
    Handler.missing.clear()
    command = [
        browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        f"--user-data-dir={profile}", "--virtual-time-budget=15000", "--dump-dom",
        f"--screenshot={os.path.abspath(shot)}", "--window-size=1300,1000", url,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # A browser asks for its icon itself.
    found = [each for each in Handler.missing if not each.endswith("/favicon.ico")]
    found += re.findall(r'CONSOLE.*?"(.*)"', done.stderr)
    if shown not in done.stdout:
        found.append(f"does not show {shown}")
    if not os.path.exists(shot):
        found.append("no picture")
    return [f"{page}: {each}" for each in found]


def main():
    browser, site, shots = sys.argv[1:]
    os.makedirs(shots, exist_ok=True)
    [version] = [each for each in os.listdir(site) if re.fullmatch(r"[\d.]+\d", each)]
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=site)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}/{version}"
    bad = []
    with tempfile.TemporaryDirectory() as profile:
        for page, shown in PAGES.items():
            shot = os.path.join(shots, re.sub(r"\W", "-", page) + ".png")
            bad += check(browser, profile, f"{base}/{page}", page, shown, shot)
    server.shutdown()
    print(*bad, f"{len(PAGES)} pages", sep="\n")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
