"""Start a program, and end it together with everything that it has started.

    python launch.py CONTROL PARENT LIMITS PROGRAM ARGUMENT...

`process.py` runs this file by its path, as a process between Fourlab and the program: only a parent
can collect processes that leave their group and session, and only another process can still act
after Fourlab itself was killed. It imports nothing but the standard library, so that it starts in a
few hundredths of a second.

CONTROL is one end of a socket pair. `started`, or `failed ERRNO`, is written to it; `T` read from
it sends SIGTERM to the program. The program and all its descendants are killed when the program
exits, when the socket ends, or when PARENT is no longer the parent of this process. The launcher
then exits as the program did: with its code, or by its signal.

On Linux the launcher is a subreaper: descendants whose parent has exited become its children, so
walking the tree below it finds all of them, also those that called setsid. Elsewhere only the
program's process group is killed.
"""

import contextlib
import errno
import os
import select
import signal
import sys
import time

PARENT_SECONDS = 1.0
"""How often to look whether the parent is alive.

The end of the socket says so at once, unless a forked copy of the parent still holds it open.
"""
WALKS = 1000
WALK_SECONDS = 0.005
"""The processes below this one are killed at most WALKS times, this long apart."""
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LIMITS = ("RLIMIT_DATA", "RLIMIT_CPU")
"""What LIMITS holds, separated by commas: bytes of writable memory, seconds of processor time."""


def main(control: int, parent: int, limits: str, arguments: list[str]) -> None:
    """Run the program to its end; does not return."""
    import resource  # does not exist on Windows, where only `descendants` is used

    os.set_inheritable(control, False)  # it is not the program's
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Every signal, above all SIGCHLD, writes a byte to this pipe and so ends `poll`.
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    program, error = _start(arguments, [int(limit) for limit in limits.split(",")])
    if error:
        os.write(control, b"failed %d\n" % error)
        os._exit(127)
    # Standard streams belong to the program: its readers must see the end when it closes them.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.write(control, b"started\n")
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(woken, select.POLLIN)
    status = None
    while status is None and os.getppid() == parent:
        ready = [descriptor for descriptor, _ in poll.poll(1000 * PARENT_SECONDS)]
        if woken in ready:
            os.read(woken, 4096)
        if control in ready:
            if os.read(control, 1) != b"T":
                break
            with contextlib.suppress(OSError):
                os.killpg(program, signal.SIGTERM)
        status = _reap(program)
    _exit_as(_kill_all(program, status))


def _start(arguments: list[str], limits: list[int]) -> tuple[int, int]:
    """Start the program in its own session; return its process id and 0, or 0 and an errno."""
    import resource

    launcher = os.getpid()
    failures, reporter = os.pipe()  # closed by a successful exec
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            if sys.platform == "linux":
                _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != launcher:  # it has exited before the line above
                    os._exit(127)
            for name, limit in zip(LIMITS, limits, strict=True):
                number = getattr(resource, name)
                most = resource.getrlimit(number)[1]
                if most == resource.RLIM_INFINITY or limit < most:
                    # At the soft limit of processor time the program gets SIGXCPU, which the
                    # record can name; at the hard limit it would get SIGKILL.
                    resource.setrlimit(number, (limit, limit + 1))
            # Python ignores these two, and an exec would keep that.
            for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(ignored, signal.SIG_DFL)
            os.execvp(arguments[0], arguments)
        except (OSError, ValueError) as error:
            os.write(reporter, b"%d" % (getattr(error, "errno", None) or errno.EINVAL))
        finally:
            os._exit(127)
    os.close(reporter)
    failure = os.read(failures, 16)
    os.close(failures)
    return (0, int(failure)) if failure else (pid, 0)


def _reap(program: int) -> int | None:
    """Collect exited children; return the status of the program if it is one of them."""
    status = None
    while True:
        try:
            pid, result = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = result


def _kill_all(program: int, status: int | None) -> int:
    """Kill every descendant; return the status of the program, which may be `status` already."""
    if sys.platform != "linux":
        if status is None:
            os.killpg(program, signal.SIGKILL)
            status = os.waitpid(program, 0)[1]
        return status
    # A descendant may start another one during the walk, so walk until there is none. The bound
    # is for a program with other rights, which cannot be killed.
    for _ in range(WALKS):
        for pid in descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        result = _reap(program)
        status = result if status is None else status
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            break
        time.sleep(WALK_SECONDS)
    return 0 if status is None else status


def descendants(ancestor: int) -> list[int]:
    """Return the processes below a process, read from /proc; empty on systems without it."""
    if sys.platform != "linux":
        return []
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name in parentheses may contain anything; state and parent follow it.
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # it has just exited
            continue
        children.setdefault(parent, []).append(int(name))
    pids = list(children.get(ancestor, ()))
    for pid in pids:  # grows on the way
        pids += children.get(pid, ())
    return pids


def _exit_as(status: int) -> None:
    """Exit with the code, or by the signal, of a process's status."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
