#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Are pages of captures what their reports are?

usage: check_html.py sums GPUPROF CAPTURE...   the strips add up to the tables, and so on
       check_html.py browser PAGE              opened, clicked, zoomed; light, dark, wide, narrow
       check_html.py hostile PAGE              opened: its names are text
       check_html.py pictures FOLDER PAGE [--update]   it looks as the pictures do that are there

Prints how many there were, or what is wrong and status 1.
"""
import base64
import collections
import concurrent.futures
import hashlib
import html.parser
import json
import os
import re
import subprocess
import sys

from browser import Browser

BYTES_MAX = 2_000_000
DIFFERENT_MOST = 0.003  # another colour of compute changes 0.6 %
VOID = ("meta", "input", "br")
ADDRESS = re.compile(r"https?:|url\(|@import|<link|<iframe|\ssrc=\"", re.I)


class Wrong(Exception):
    pass


def check(is_right, *what):
    if not is_right:
        raise Wrong(" ".join(map(str, what)))


# ---- without a browser ---------------------------------------------------------------------------

class Page(html.parser.HTMLParser):
    """Its data, its tables as rows of texts, and what its policy allows."""

    def __init__(self, text):
        super().__init__()
        self.data, self.policy, self.open, self.attributes = None, "", [], []
        self.texts = collections.defaultdict(str)
        self.feed(text)
        check(not self.open, "elements that do not end:", self.open)
        self.data = json.loads(self.texts["data"])

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.attributes += attrs
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag not in VOID:
            self.open.append((tag, attrs.get("id")))

    def handle_startendtag(self, tag, attrs):
        self.attributes += dict(attrs)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        check(self.open and self.open[-1][0] == tag, "an element ends that is not open:", tag)
        self.open.pop()

    def handle_data(self, text):
        tag, name = self.open[-1] if self.open else ("", None)
        self.texts[name or tag] += text


def check_policy(page):
    """Only the style and the script that are there."""
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        digest = hashlib.sha256(page.texts[tag].encode()).digest()
        wanted = f"{directive} 'sha256-{base64.b64encode(digest).decode()}'"
        check(wanted in page.policy, "the policy lacks", wanted)
    check(page.policy.startswith("default-src 'none'; "), "policy:", page.policy)
    check("unsafe" not in page.policy, "policy:", page.policy)
    handlers = [a for a in page.attributes if a.startswith("on") or a == "style"]
    check(not handlers, "attributes that the policy forbids:", handlers)


def sums_of(strips):
    """(sums by book and bucket; the most that a bin of a book has)"""
    sums, most = collections.Counter(), 0
    for strip in strips:
        bins = collections.Counter()
        book = ("gpu", strip["pid"], strip["gpu"]) if "gpu" in strip else \
            ("thread", strip["pid"], strip["tid"])
        for state, bucket, numbers in strip["rows"]:
            at = 0
            for n in numbers:
                check(isinstance(n, int) and n != 0, book, bucket, "has", n)
                if n < 0:
                    at -= n
                    continue
                bins[at] += n
                at += 1
                sums[(*book, state if "gpu" in strip else "", bucket)] += n
        most = max([most, *bins.values()])
    return sums, most


def sums_of_tables(tables):
    sums = collections.Counter()
    for row in tables["ledger"]:
        gpu = str(row["device"]) + ("" if row["mig"] is None else f":{row['mig']}")
        sums["gpu", row["pid"], gpu, row["state"], row["bucket"]] += row["ns"]
    for row in tables["threads"]:
        sums["thread", row["pid"], row["tid"], "", row["bucket"]] += row["ns"]
    return sums


def report(gpuprof, capture, *options):
    done = subprocess.run([gpuprof, "report", capture, *options], capture_output=True, check=False,
                          timeout=60)
    check(done.stdout, capture, "has no report:", done.stderr.decode(errors="replace"))
    return done.stdout.decode()


def check_sums(gpuprof, capture):
    """How many books the page shows."""
    text = report(gpuprof, capture, "--format", "html")
    check(len(text.encode()) <= BYTES_MAX, "it has", len(text.encode()), "bytes")
    check(not ADDRESS.search(text), "it asks for:", ADDRESS.search(text))
    page = Page(text)
    check_policy(page)
    time = page.data["time"]
    tables = json.loads(report(gpuprof, capture, "--format", "json", "--table", "ledger,threads"))
    got, most = sums_of(time["strips"])
    want = sums_of_tables(tables["tables"])
    books = {key[:3] for key in got}
    for key in {key for key in {**got, **want} if key[:3] in books}:
        check(got[key] == want[key], key, "is", got[key], "and not", want[key])
    check(most <= time["bin_ns"], "a bin of", time["bin_ns"], "ns has", most)
    unseen = {key[:3] for key in want if key[4] != "no-work"} - books
    check(len(unseen) <= time["left_out"], "no strip of", unseen)
    return len(books)


def check_all(gpuprof, captures):
    def one(capture):
        try:
            return check_sums(gpuprof, capture)
        except Wrong as e:
            raise Wrong(f"{os.path.basename(capture)}: {e}") from None

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        books = list(pool.map(one, captures))
    print(f"{len(captures)} pages, {sum(books)} strips add up")


# ---- in a browser --------------------------------------------------------------------------------

def open_page(b, path):
    b.open(path)
    b.wait_for("document.documentElement.dataset.ready === 'yes'")
    b.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")


def check_quiet(b, path):
    check(not b.errors(), "the page says:", b.errors())
    asked = b.requests()
    check(asked == ["file://" + os.path.abspath(path)], "the page asked for", asked)


def check_sorting(b):
    """A click on a heading, by the mouse: down, then up; what is unknown is last."""
    place = """(() => { const th = [...document.querySelectorAll('#t-ledger th')]
        .find((e) => e.textContent === 'busy'); th.scrollIntoView({ block: 'center' });
        const r = th.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"""
    column = """(() => { const t = document.querySelector('#t-ledger table');
        const at = [...t.rows[0].cells].findIndex((e) => e.textContent === 'busy');
        return [...t.tBodies[0].rows].map((r) => r.cells[at].dataset.v ?? null); })()"""
    for order in "descending", "ascending":
        b.click(*b.run(place))
        check(b.run("document.querySelector('#t-ledger th[aria-sort]').ariaSort") == order, "not", order)
        values = b.run(column)
        known = [int(v) for v in values if v is not None]
        check(known == sorted(known, reverse=order == "descending"), order, "is", known)
        check(None not in values[:len(known)], "unknown ones are not last:", values)


def check_filter(b):
    rows = """[...document.querySelectorAll('#tables tbody tr')].filter((r) => r.checkVisibility())
        .map((r) => r.textContent.toLowerCase())"""
    everything = b.run(rows)
    b.run("document.getElementById('filter').focus()")
    for c in "gemm":
        b.key(c, c)
    some = b.run(rows)
    check(0 < len(some) < len(everything), "of", len(everything), "rows there are", len(some))
    check(all("gemm" in row for row in some), "rows that do not match:", some)
    b.run("""{ const f = document.getElementById('filter'); f.value = '';
        f.dispatchEvent(new Event('input')); }""")
    check(b.run(rows) == everything, "rows did not come back")


def view(b):
    b.run("new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")
    return [int(n) for n in b.run("document.getElementById('strips').dataset.view").split()]


def check_zoom(b):
    """By drag, keys and wheel; the tip has the moment and who owned it."""
    b.run("document.getElementById('strips').scrollIntoView({ block: 'center' })")
    box = b.run("""(() => { const r = document.querySelector('#strips canvas').getBoundingClientRect();
        return [r.x, r.y + r.height / 2, r.width]; })()""")
    x, y, width = box
    start, end = view(b)
    check(start == 0, "the view begins at", start)
    b.mouse("Moved", x + width / 2, y)
    tip = b.run("document.getElementById('tip').textContent")
    check(re.match(r"GPU 0, .* at [0-9.]+ \w+ \([0-9.]+ \w+\)\n[0-9.]+ %  [a-z]+", tip), "the tip is", tip)
    b.mouse("Pressed", x + width / 4, y, button="left", clickCount=1)
    b.mouse("Moved", x + width / 2, y, button="left", buttons=1)
    b.mouse("Released", x + width / 2, y, button="left", clickCount=1)
    got = view(b)
    check(abs(got[0] - end / 4) < end / 100 and abs(got[1] - end / 2) < end / 100, "dragged to", got)
    b.key("ArrowRight")
    check(view(b)[0] > got[0], "the arrow key did not move", got)
    before = view(b)
    b.mouse("Wheel", x + width / 2, y, deltaX=0, deltaY=-200)
    after = view(b)
    check(after[1] - after[0] < before[1] - before[0], "the wheel did not zoom", before, after)
    b.key("0", "0")
    check(view(b) == [0, end], "0 does not show all, but", view(b))


def check_rows(b):
    """Each GPU, thread and memory in use has one row."""
    names = b.run("[...document.querySelectorAll('#strips .row:not(.axis)')].map((r) => r.textContent)")
    data = b.run("JSON.parse(document.getElementById('data').textContent)")
    memory = len([m for m in data["moments"]["live"] if m["kinds"]])
    check(len([n for n in names if n.startswith("memory allocated")]) == memory, memory, "of", names)
    strips = [n for n in names if not n.startswith("memory")]
    check(len(strips) == len(data["time"]["strips"]), "strips:", names)


def check_flames(b):
    if not b.run("document.querySelectorAll('.flame').length"):
        return
    widths = "[...document.querySelectorAll('.flame')][0].querySelectorAll('.f')"
    last = f"[...{widths}].at(-1)"
    before = b.run(f"{last}.getAttribute('width')")
    b.run(f"{last}.dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    check(b.run(f"{last}.getAttribute('width')") == "100%", "no zoom from", before)
    b.run(f"{widths}[0].dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))")
    check(abs(float(b.run(f"{last}.getAttribute('width')")[:-1]) - float(before[:-1])) < 0.01, "no way back")


LIGHTNESS = """(() => { const at = (c) => c.match(/[0-9.]+/g).slice(0, 3).reduce((s, n) => s + +n, 0) / 3;
    const s = getComputedStyle(document.body); return [at(s.backgroundColor), at(s.color)]; })()"""
DRAWN = """[...document.querySelectorAll('#strips canvas')].map((c) => { const p = c.getContext('2d')
    .getImageData(0, 0, c.width, c.height).data; let n = 0;
    for (let i = 3; i < p.length; i += 4) n += p[i] > 0; return n / (p.length / 4); })"""


def check_looks(b, path):
    """Light and dark, wide and narrow: nothing wider than the window, strips are drawn."""
    for scheme in "light", "dark":
        b.prefer(scheme)
        for width in 1280, 380:
            b.resize(width, 900)
            open_page(b, path)
            check_quiet(b, path)
            back, ink = b.run(LIGHTNESS)
            check((back > 200 and ink < 90) if scheme == "light" else (back < 60 and ink > 180),
                  scheme, "has", ink, "on", back)
            wide = b.run("document.documentElement.scrollWidth")
            check(wide <= width, "at", width, "it is", wide, "wide")
            drawn = b.run(DRAWN)[0]
            check(drawn > 0.95, "only", drawn, "of the first strip is drawn")
            check(len(b.picture()) > 20000, "its picture is empty")
    b.run("document.getElementById('theme').click()")
    check(b.run(LIGHTNESS)[0] > 200, "the button does not make a dark page light")
    b.prefer("light")
    b.resize(1280, 900)


def check_without_script(b, path):
    b.script(False)
    b.open(path)
    shown = b.call("Page.captureScreenshot", format="png")
    check(len(shown["data"]) > 20000, "nothing is shown without the script")
    check_quiet(b, path)
    b.script(True)


def check_browser(path):
    with Browser() as b:
        check_looks(b, path)
        open_page(b, path)
        check_sorting(b)
        check_filter(b)
        check_zoom(b)
        check_rows(b)
        check_flames(b)
        check_quiet(b, path)
        check_without_script(b, path)
    print("a page: looked at, sorted, filtered, zoomed; no error, no request")


def check_pictures(folder, path, *update):
    worst = 0
    with Browser() as b:
        for scheme in "light", "dark":
            b.prefer(scheme)
            for width in 1280, 380:
                b.resize(width, 900)
                open_page(b, path)
                golden, shown = os.path.join(folder, f"{scheme}-{width}.png"), b.picture_of_all()
                if update:
                    open(golden, "wb").write(shown)
                else:
                    worst = max(worst, b.difference(open(golden, "rb").read(), shown))
    check(worst <= DIFFERENT_MOST, "its pictures differ in", f"{100 * worst:.1f} % of their cells from", folder)
    print("a page looks as its 4 pictures do")


def check_hostile(path):
    with Browser() as b:
        open_page(b, path)
        check(b.run("document.images.length") == 0, "a name became an image")
        check(b.run("document.scripts.length") == 2, "there are", b.run("document.scripts.length"), "scripts")
        for place in "h1", "#gpus small", "#strips .name", "#t-kernels td:nth-child(3)", ".flame text":
            text = b.run(f"document.querySelector({json.dumps(place)}).textContent")
            check("</script><img" in text, place, "has not the name, but", text)
        check_quiet(b, path)
    print("hostile names are text")


def main():
    what, *args = sys.argv[1:]
    try:
        if what == "sums":
            check_all(args[0], args[1:])
        else:
            {"browser": check_browser, "hostile": check_hostile, "pictures": check_pictures}[what](*args)
    except Wrong as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
