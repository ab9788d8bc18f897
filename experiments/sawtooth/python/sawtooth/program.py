"""The program `sawtooth`, which comes with the package: its commands as functions."""

from __future__ import annotations

import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, Optional, TypeVar, Union

from . import _core
from .kernels import DeviceError
from .simulation import UsageError, option_texts, usage_error
from .table import Columns, Row, Table, csv_of, read_csv

_Path = Union[str, os.PathLike[str]]
_Data = Union[_Path, list[Row], Columns]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def program() -> str:
    """Where the program is. Raises DeviceError where the package was built without Boost."""
    path = pathlib.Path(__file__).parent / "bin" / "sawtooth"
    if not path.exists():
        raise DeviceError("this package has no program: install Boost and Eigen, build it again")
    return str(path)


def main() -> None:
    """The command `sawtooth` of an environment."""
    os.execv(program(), ["sawtooth", *sys.argv[1:]])


def with_options(command: str, outputs: bool = False) -> Callable[[_Function], _Function]:
    """Gives a function that takes **options the names, defaults and help of a command's options."""

    def named(function: _Function) -> _Function:
        parameters = list(inspect.signature(function).parameters.values())[:-1]
        lines = [f"{(function.__doc__ or '').rstrip()}", "", "    Options:"]
        for key, default, description, values, kind in _core.options(command):
            if kind == "output" and (not outputs or key in ("csv", "quiet")):
                continue
            name = "pass_" if key == "pass" else key.replace("-", "_")
            given = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default or None)
            parameters.append(given)
            lines.append(f"      {name}: {description}{': ' if values else ''}{values}")
        function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        function.__doc__ = "\n".join(lines)
        return function

    return named


def _run(command: str, config: Optional[_Path], options: dict[str, Any], *more: str) -> str:
    words = [command, *([] if config is None else [os.fspath(config)])]
    for key, texts in option_texts(options):
        words += [f"--{key}", ",".join(texts)]
    return _said([*words, *more])


def _said(words: list[str]) -> str:
    known = {"SAWTOOTH_PYTHON": sys.executable, **os.environ}  # which draws figures
    done = subprocess.run([program(), *words], capture_output=True, text=True, env=known)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        message = said[-1].split(": ", 1)[-1] if said[-1].startswith("sawtooth") else said[-1]
        if done.returncode == 2:
            raise usage_error(UsageError(message))
        raise (DeviceError if done.returncode == 3 else RuntimeError)(message)
    return done.stdout


@with_options("search", outputs=True)
def search(config: Optional[_Path] = None, **options: Any) -> Table:
    """The best schedules of a problem, as `sawtooth search` finds them: a row each, the best first."""
    return read_csv(_run("search", config, options, "--csv", "-", "--quiet"))


@with_options("simulate")
def advise(config: Optional[_Path] = None, **options: Any) -> Table:
    """What each order would change, as `sawtooth advise` says it: a row an order, today's first."""
    return read_csv(_run("advise", config, options, "--csv", "-"))


@with_options("trace", outputs=True)
def trace(config: Optional[_Path] = None, **options: Any) -> Table:
    """Writes the trace of a point to the file `write`, or returns what that in `read` predicts."""
    if options.get("read"):
        return read_csv(_run("trace", config, options, "--csv", "-"))
    _run("trace", config, options)
    return Table((), ())


def plot(figure: str, *tables: _Data, output: Optional[_Path] = None, **options: Any) -> list[str]:
    """Draws a figure of `sawtooth plot --list` from tables (paths, or what simulate() and its
    miss_curve() returned) into `output`, by default FIGURE.png here; returns the files. Needs
    matplotlib."""
    words = ["-o", f"{figure}.png" if output is None else os.fspath(output)]
    for key, texts in option_texts(options):
        words += [word for text in texts for word in (f"--{key}", text)]
    with tempfile.TemporaryDirectory() as folder:
        for number, table in enumerate(tables):
            if not isinstance(table, (str, os.PathLike)):
                path = pathlib.Path(folder) / f"table{number}.csv"
                path.write_text(csv_of(table), encoding="utf-8")
                table = path
            words.insert(number, os.fspath(table))
        said = _said(["plot", figure, *words])
    return said.strip().split(": ", 1)[-1].split(", ")
