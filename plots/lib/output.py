"""Files that appear whole or not at all. Links are followed; a device, a pipe or standard output is
written to as it is."""

import os
import stat


def target_of(path):
    """Where the bytes go, and whether a new file may take its place."""
    for _ in range(40):  # as many links as the system follows
        if path.startswith("/proc/"):
            return path, False  # others have it open
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    try:
        return path, stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return path, True


def write_file(path, save):
    """Calls save(NAME), which writes a file of this name; then it is the one at `path`."""
    target, replaceable = target_of(path)
    if not replaceable:
        save(target)
        return
    stem, ending = os.path.splitext(target)
    temporary = f"{stem}.tmp{ending}"
    try:
        save(temporary)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def write_text(path, text):
    def save(name):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    write_file(path, save)
