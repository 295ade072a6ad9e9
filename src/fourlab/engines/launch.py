"""Start a program, and end it together with everything that it has started.

    python launch.py CONTROL PARENT LIMITS PROGRAM ARGUMENT...

`process.py` runs this file by its path, as a process between Fourlab and the program: only a parent
can collect processes that leave their group and session, and only another process can still act
after Fourlab itself was killed. It imports nothing but the standard library, so that it starts in a
few hundredths of a second.

CONTROL is one end of a socket pair. `started`, or `failed ERRNO`, is written to it; `T` read from
it sends SIGTERM to the program. The program and all its descendants are killed when the program
exits, when the socket ends, when PARENT is no longer the parent of this process, or when together
they exceed a limit, which is written to the socket as `memory BYTES` or `tasks NUMBER`. The
launcher then exits as the program did: with its code, or by its signal.

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
LOOK_SECONDS = 0.1
"""How often to look at what the program and its descendants use, whatever Fourlab does."""
LOOK_SHARE = 20
"""Reading /proc takes long on a machine with many processes; wait this many times as long before
the next look, so that it costs at most 5 % of the time."""
LIMITS = ("RLIMIT_DATA", "RLIMIT_CPU")
"""The first of LIMITS, separated by commas: bytes of writable memory and seconds of processor time,
for every process. The bytes in use and the processes and threads of all together follow."""


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
    *of_process, most_bytes, most_tasks = (int(limit) for limit in limits.split(","))
    program, error = _start(arguments, of_process, most_tasks)
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
    next_look = time.monotonic()
    seconds = LOOK_SECONDS if sys.platform == "linux" else PARENT_SECONDS
    while status is None and os.getppid() == parent:
        ready = [descriptor for descriptor, _ in poll.poll(1000 * seconds)]
        if woken in ready:
            os.read(woken, 4096)
        if control in ready:
            if os.read(control, 1) != b"T":
                break
            with contextlib.suppress(OSError):
                os.killpg(program, signal.SIGTERM)
        status = _reap(program)
        if (now := time.monotonic()) < next_look or sys.platform != "linux":
            continue
        tasks, memory = usage(os.getpid())
        next_look = now + max(LOOK_SECONDS, LOOK_SHARE * (time.monotonic() - now))
        if tasks > most_tasks or memory > most_bytes:
            report = b"memory %d\n" % memory if memory > most_bytes else b"tasks %d\n" % tasks
            with contextlib.suppress(OSError):
                os.write(control, report)
            break
    _exit_as(_kill_all(program, status))


def _start(arguments: list[str], limits: list[int], most_tasks: int) -> tuple[int, int]:
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
            # The system counts all processes and threads of a user, so those of others are added.
            # This stops a fork bomb before the launcher looks; it does not bind root.
            if sys.platform == "linux":
                _limit(resource.RLIMIT_NPROC, most_tasks + _tasks_of_user())
            for name, limit in zip(LIMITS, limits, strict=True):
                _limit(getattr(resource, name), limit)
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


def _limit(number: int, limit: int) -> None:
    """Set a limit of this process, unless it has a lower one."""
    import resource

    most = resource.getrlimit(number)[1]
    if most == resource.RLIM_INFINITY or limit < most:
        # At the soft limit of processor time the program gets SIGXCPU, which the record can name;
        # at the hard limit it would get SIGKILL.
        resource.setrlimit(number, (limit, limit + 1))


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
    # A descendant may start another one during the walk, so walk until there is none. All are
    # stopped before any is killed: a fork bomb would fill the places of those that are gone. The
    # bound is for a program with other rights, which cannot be killed.
    stopped: set[int] = set()
    for _ in range(WALKS):
        pids = set(descendants(os.getpid()))
        number = signal.SIGSTOP if pids - stopped else signal.SIGKILL
        for pid in pids - stopped if pids - stopped else pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)
        if pids - stopped:
            stopped |= pids
            continue
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
    return _below(ancestor, _processes())


def usage(ancestor: int) -> tuple[int, int]:
    """Return the processes and threads below a process, and their resident bytes; 0 without /proc.

    Memory that processes share counts for each of them.
    """
    processes = _processes()
    below = [processes[pid] for pid in _below(ancestor, processes)]
    pages = sum(pages for _, _, pages in below)
    return sum(threads for _, threads, _ in below), pages * os.sysconf("SC_PAGE_SIZE")


def _below(ancestor: int, processes: dict[int, tuple[int, int, int]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in processes.items():
        children.setdefault(parent, []).append(pid)
    pids = list(children.get(ancestor, ()))
    for pid in pids:  # grows on the way
        pids += children.get(pid, ())
    return pids


def _processes() -> dict[int, tuple[int, int, int]]:
    """Return parent, number of threads and resident pages of every process in /proc."""
    processes: dict[int, tuple[int, int, int]] = {}
    if sys.platform != "linux":
        return processes
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name in parentheses may contain anything. The state, which is field 3, comes
                # first after it; fields 4, 20 and 24 are wanted (proc(5)).
                fields = file.read().rpartition(b")")[2].split()
            processes[int(name)] = int(fields[1]), int(fields[17]), int(fields[21])
        except (OSError, ValueError, IndexError):  # it has just exited
            continue
    return processes


def _tasks_of_user() -> int:
    """Return the number of processes and threads of this user."""
    tasks = 0
    for pid, (_, threads, _) in _processes().items():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == os.getuid():
                tasks += threads
    return tasks


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
