"""Files that are read, and files that appear whole or not at all, as support/files.hpp of the program
has them, with the same names and locks beside them. Links are followed; a device, a pipe or standard
output is written to as it is."""

import contextlib
import errno
import fcntl
import os
import stat

TEMPORARY = ".sawtooth-tmp"
MOST_LINE, MOST_TEXT = (
    1 << 20,
    1 << 30,
)  # characters of what is read, the latter as TextLimit::table
inputs = set()  # what was read; none of it is replaced


def lines(path, replaced=False):
    """Lines of a text, with their ends; no output takes its place unless it is read to be `replaced`.
    OSError for what is larger than any file of ours."""
    if not replaced:
        inputs.add(os.path.realpath(path))
    left = MOST_TEXT
    with open(path, newline="", encoding="utf-8-sig") as file:
        while line := file.readline(MOST_LINE + 1):
            left -= len(line)
            if left < 0 or len(line) > MOST_LINE:
                raise OSError(errno.EFBIG, "is too large for a file of ours", path)
            yield line


def target_of(path):
    """Where the bytes go, and the state of the file there; whether a new one may take its place."""
    for _ in range(40):  # as many links as the system follows
        if path.startswith("/proc/"):
            return path, None, False  # others have it open
        if not os.path.islink(path):
            break
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    try:
        there = os.stat(path)
        return path, there, stat.S_ISREG(there.st_mode)
    except FileNotFoundError:
        return path, None, True


def locked_temporary(path, name, mode):
    """A descriptor of the file `name`, new and locked. What is there and not locked was left by a process
    that was killed."""
    while True:
        try:
            file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            is_new = True
        except FileExistsError:
            try:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError:
                continue
            is_new = False
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise FileExistsError(errno.EEXIST, "is in the way; remove it", name)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(name) and os.path.samestat(os.fstat(file), os.lstat(name)):
                if is_new:
                    return file
                os.remove(name)
        except BlockingIOError:
            os.close(file)
            raise BlockingIOError(
                errno.EWOULDBLOCK, "another process is writing it", path
            ) from None
        except BaseException:
            os.close(file)
            raise
        os.close(file)


@contextlib.contextmanager
def opened(path):
    """A binary file that takes the place of the one at `path` at the end, unless an error was raised.
    OSError for what cannot be written, is read as well, is written by another process or has further
    hard links, which would be parted."""
    target, there, replaceable = target_of(os.fspath(path))
    if not replaceable:
        with open(target, "ab") as file:
            yield file
        return
    temporary = target + TEMPORARY
    for ours in filter(os.path.exists, (target, temporary)):
        if any(os.path.exists(one) and os.path.samefile(one, ours) for one in inputs):
            raise FileExistsError(errno.EEXIST, "is read as well", ours)
    if there and there.st_nlink > 1:
        raise FileExistsError(errno.EMLINK, "has other hard links", path)
    lock = locked_temporary(path, temporary, 0o600 if there else 0o666)
    try:
        if there:
            with contextlib.suppress(PermissionError):  # of root the owner stays
                os.fchown(lock, there.st_uid, there.st_gid)
            os.fchmod(lock, stat.S_IMODE(there.st_mode))
        with open(os.dup(lock), "wb") as file:
            yield file
        os.replace(temporary, target)
    except BaseException:
        os.remove(temporary)
        raise
    finally:
        os.close(lock)


def write_text(path, text):
    with opened(path) as file:
        file.write(text.encode())
