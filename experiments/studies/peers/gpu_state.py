"""Clock, power and temperature of the GPU while something runs, sampled by nvidia-smi."""

import csv
import shutil
import subprocess
from statistics import median

QUERY = "--query-gpu=clocks.sm,power.draw.instant,temperature.gpu"
COLUMNS = ("shape", "samples", "sm_mhz", "sm_mhz_lowest", "power_w", "power_w_highest")
COLUMNS += ("temperature_c",)
PERIOD_MS = 50


class GpuState:
    """Samples between `begin` and `end`; without nvidia-smi there are none."""

    def __init__(self):
        self.lines = []
        self.process_ = None

    def begin(self):
        program = shutil.which("nvidia-smi")
        if program:
            words = [program, QUERY, "--format=csv,noheader,nounits", "-lms", str(PERIOD_MS)]
            pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.process_ = subprocess.Popen(words, text=True, **pipes)

    def end(self, name):
        """Adds the line of `name`: medians and extremes of the samples since `begin`."""
        if self.process_ is None:
            return
        self.process_.terminate()
        text, _ = self.process_.communicate()
        self.process_ = None
        samples = list(readings(text))
        if samples:
            self.lines.append(summary(name, samples))


def readings(text):
    """(MHz, W, C) of every whole line."""
    for cells in csv.reader(text.splitlines()):
        try:
            clock, power, temperature = map(float, cells)
        except ValueError:  # a line that was cut off, or "[N/A]"
            continue
        yield clock, power, temperature


def summary(name, samples):
    clocks, powers, temperatures = zip(*samples)
    found = (median(clocks), min(clocks), median(powers), max(powers), median(temperatures))
    return dict(zip(COLUMNS, (name, len(samples), *(f"{value:.0f}" for value in found))))
