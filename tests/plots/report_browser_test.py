"""The page of `sawtooth report` in a headless Chromium: filters, slider, keys and pictures do what they
say. Skipped where there is no Chromium."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import report_tables
import report  # plots/, by the path of report_tables

SKIPPED = 77  # the exit code that tests/CMakeLists.txt declares
NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
SANDBOX = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses root with one
POINTS = 500
# Runs after the page is ready; what `seen` holds then is what the tests look at.
ACTIONS = """
const seen = {};
const key = (node, name) => { node.focus(); node.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true })); };
const choose = (node, place) => { node.selectedIndex = place; node.dispatchEvent(new Event("change")); };
const act = () => {
  seen.count = $("count").textContent;
  seen.unreachable = [...document.querySelectorAll("button, select, input, canvas, tbody tr[data-id]")].filter((n) => n.tabIndex < 0).length;
  seen.unnamed = [...document.querySelectorAll("select, input")].filter((n) => n.labels.length === 0).length;
  choose(document.querySelector('select[data-column="scan"]'), 2);
  seen.sawtooth = $("count").textContent;
  $("text").value = "S=7K"; $("text").dispatchEvent(new Event("input"));
  seen.words = $("count").textContent;
  seen.row = [...$("sweep").tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent));
  $("capacity").value = 4; $("capacity").dispatchEvent(new Event("input"));
  seen.small = [$("capacity-text").textContent, $("curve-values").querySelector("tbody td.number").textContent];
  $("capacity").value = 8; $("capacity").dispatchEvent(new Event("input"));
  seen.large = [$("capacity-text").textContent, $("curve-values").querySelector("tbody td.number").textContent];
  $("text").value = ""; $("text").dispatchEvent(new Event("input"));
  choose(document.querySelector('select[data-column="scan"]'), 0);
  document.querySelectorAll("#sweep th button")[2].click();
  document.querySelectorAll("#sweep th button")[2].click();
  seen.most = $("sweep").tBodies[0].rows[0].cells[2].title;
  const first = $("sweep").tBodies[0].rows[0];
  key(first, "ArrowDown");
  key(document.activeElement, "Enter");
  seen.selected = [...document.querySelectorAll("tr[aria-selected=true]")].map((row) => row.rowIndex);
  seen.wave = [$("wave-text").textContent, $("range").textContent];
  key($("map"), "."); seen.stepped = $("wave-text").textContent; key($("map"), "End"); seen.end = $("wave-text").textContent;
  key($("map"), "+"); seen.zoomed = $("range").textContent; key($("map"), "ArrowLeft"); seen.panned = $("range").textContent;
  key($("map"), "0"); seen.idle = [...$("map").getContext("2d").getImageData(31, 0, 1, 1).data];
  seen.pairs = $("pair-summary").textContent;
  seen.compared = $("compared-summary").textContent;
  seen.marks = document.querySelectorAll("#compared-picture [tabindex='0']").length;
  seen.styles = [new Set(COLOURS).size, new Set(DASHES).size];
};
const timer = setInterval(() => {
  if (!document.body.dataset.ready) return;
  clearInterval(timer);
  try { act(); } catch (error) { seen.failure = String(error); }
  document.body.append(make("pre", { id: "seen" }, JSON.stringify(seen)));
}, 50);
"""


def in_browser(folder, actions, *words):
    """What `actions` leave in #seen of the page of a folder's tables."""
    page = report.page(report.payload(str(folder)))
    path = folder / "page.html"
    path.write_text(page.replace("</body>", f"<script>{actions}</script></body>"), encoding="utf-8")
    options = ["--headless", "--disable-gpu", "--virtual-time-budget=60000", *SANDBOX, *words]
    options += [f"--user-data-dir={folder / 'browser'}", "--dump-dom", path.as_uri()]
    done = subprocess.run(
        [BROWSER, *options], capture_output=True, text=True, timeout=300, check=False
    )
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    if not found:
        raise AssertionError(f"the page is not ready: {done.stderr[-500:]}")
    return json.loads(html.unescape(found[1]))


LOOKED_AT = """
const box = (node) => node.getBoundingClientRect(), seen = {};
const shown = (node) => !node.closest("[hidden]");
const timer = setInterval(() => {
  if (!document.body.dataset.ready) return;
  clearInterval(timer);
  // Words of the figure that lie over others or stand out of it; rows that are cut at the table's end.
  const svg = $("answers").querySelector("svg"), texts = [...svg.querySelectorAll("text")], end = box($("sweep").parentNode).bottom;
  const over = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  const out = (a) => a.left < box(svg).left || a.right > box(svg).right || a.bottom > box(svg).bottom;
  const bad = texts.filter((a, i) => out(box(a)) || texts.some((b, k) => k > i && over(box(a), box(b))));
  const cut = [...$("sweep").rows].filter((row) => box(row).top < end - 3 && box(row).bottom > end + 1);
  const numbers = [...$("sweep").tHead.rows[0].cells].filter((cell) => cell.className === "number");
  Object.assign(seen, {
    answer: document.querySelector(".answer").textContent, lines: $("answers").querySelectorAll("circle").length,
    above: box(document.querySelector(".answer")).top < 150 && box($("answers").querySelector("svg")).bottom < innerHeight / 2,
    heads: numbers.map((cell) => cell.textContent), inView: numbers.every((cell) => box(cell).right <= innerWidth),
    spread: $("sweep").tBodies[0].rows[0].querySelector("small")?.textContent,
    wide: document.documentElement.scrollWidth > innerWidth,
    sections: [...document.querySelectorAll("section[id^=part] h2")].filter(shown).map((node) => node.textContent),
    links: [...document.querySelectorAll("nav a")].map((node) => node.textContent),
    names: data.answers[0].lines.map((line) => line.name), words: texts.map((node) => node.textContent).join(""),
    bad: [...bad, ...cut].map((node) => node.textContent), pair: $("pair-column").selectedOptions[0]?.textContent,
    compared: [...($("compared").tBodies[0]?.rows ?? [])].map((row) => [...row.cells].map((cell) => cell.textContent)),
    paper: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.querySelector("svg text")).fill,
  });
  document.body.append(make("pre", { id: "seen" }, JSON.stringify(seen)));
}, 50);
"""


class FirstScreen(unittest.TestCase):
    """What is in view when the page of a judged run is opened, wide and narrow, light and dark."""

    def looked_at(self, width, dark, make=report_tables.make_judged):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            make(Path(folder))
            words = [f"--window-size={width},900"]
            words += ["--blink-settings=preferredColorScheme=0"] if dark else []
            return in_browser(Path(folder), LOOKED_AT, *words)

    def test_the_answer_and_its_figure_come_first_and_numbers_with_intervals_are_in_view(self):
        for width, dark in ((1280, False), (800, True)):
            with self.subTest(width=width, dark=dark):
                seen = self.looked_at(width, dark)
                start = (
                    "Take sawtooth instead of linear (faster, fewer reads): DRAM reads −40.0\u00a0%"
                )
                self.assertIn(start, seen["answer"])
                self.assertEqual(seen["lines"], 4)  # two schedules by reads and by time
                self.assertTrue(seen["above"] and seen["inView"] and not seen["wide"], seen)
                self.assertIn("time (\u00b5s), measured", seen["heads"])
                self.assertEqual(seen["spread"], "900 to 1100")
                light, dark_paper = "rgb(255, 255, 255)", "rgb(22, 24, 28)"
                self.assertEqual(seen["paper"], dark_paper if dark else light)
                self.assertNotEqual(seen["ink"], seen["paper"])

    def test_long_names_are_whole_and_no_words_of_the_figure_lie_over_others(self):
        for width in (1280, 800):
            seen = self.looked_at(width, False, report_tables.make_long)
            self.assertEqual([name for name in seen["names"] if name not in seen["words"]], [])
            self.assertEqual((seen["bad"], seen["pair"]), ([], "scan"))
            self.assertIn("+900\u00a0%", seen["words"])  # a tick beside an outlier at +4811 %

    def test_sections_without_data_are_not_there_and_a_comparison_has_both_sides_in_a_row(self):
        seen = self.looked_at(1280, False)
        self.assertEqual(seen["sections"], ["Sweep", "Predicted against measured"])
        self.assertEqual(seen["links"], seen["sections"])
        linear = ["timed: linear", "1000", "1100", "-9.1 %", "100", "110", "-9.1 %"]
        sawtooth = ["timed: sawtooth", "600", "660", "-9.1 %", "90", "90", "0.0 %"]
        self.assertEqual(seen["compared"], [linear, sawtooth])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            report_tables.make(Path(folder), POINTS)
            cls.seen = in_browser(Path(folder), ACTIONS)

    def test_nothing_failed(self):
        self.assertNotIn("failure", self.seen)

    def test_every_control_is_reached_by_keyboard_and_has_a_label(self):
        self.assertEqual((self.seen["unreachable"], self.seen["unnamed"]), (0, 0))

    def test_filters_leave_the_rows_that_pass(self):
        self.assertEqual(self.seen["count"], "500 of 500 points")
        self.assertEqual(self.seen["sawtooth"], "250 of 500 points")
        self.assertEqual(self.seen["words"], "1 of 500 points")  # S=7K, not S=77K
        # 7000 sectors of linear, 3/4 of them by sawtooth, over 500 compulsory ones
        self.assertEqual(self.seen["row"][0][:4], ["S=7K", "sawtooth", "5250", "10.5"])

    def test_the_slider_says_the_misses_at_its_capacity(self):
        # Point 13 (S=7K, sawtooth) misses 113 sectors below 1 MiB and 100 from there on.
        self.assertEqual(self.seen["small"], ["0.50 MiB", "113"])
        self.assertEqual(self.seen["large"], ["1.00 MiB", "100"])

    def test_a_head_sorts_and_a_row_is_chosen_by_keys(self):
        self.assertEqual(self.seen["most"], "250000")
        self.assertEqual(self.seen["selected"], [2])

    def test_the_wavefront_steps_zooms_and_moves(self):
        step = "Step 0: 4 of 4 CTAs visit 1 different K/V tiles, from 0 to 0."
        self.assertEqual(self.seen["wave"], [step, "0 to 31 of 32"])
        self.assertIn("Step 1: 4 of 4 CTAs visit 1", self.seen["stepped"])
        self.assertIn("Step 31: 3 of 4 CTAs", self.seen["end"])
        self.assertEqual(self.seen["zoomed"], "16 to 31 of 32")
        self.assertEqual(self.seen["panned"], "12 to 27 of 32")
        self.assertEqual(self.seen["idle"], [0, 0, 0, 0])  # the last CTA at the last step

    def test_schedules_stand_against_each_other(self):
        words = "250 pairs; sawtooth / linear: median 0.75, from 0.75 to 0.75."
        self.assertEqual(self.seen["pairs"], words)

    def test_predicted_and_measured_are_compared(self):
        # errors of 10, 20 and 30 %
        words = "timed: median error 20.0\u00a0% of 3 points, worst 30.0\u00a0%"
        self.assertIn(words, self.seen["compared"])
        self.assertEqual(self.seen["marks"], 3)

    def test_series_differ_without_colour_too(self):
        self.assertEqual(self.seen["styles"], [8, 8])


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: no Chromium here")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
