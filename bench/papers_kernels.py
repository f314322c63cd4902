# SPDX-License-Identifier: BSD-3-Clause
"""The NAS Parallel Benchmarks of the papers beside IS class B: kernels of our own with their messages."""
from papers_rows import EIGHT, LOSS, Row, Table, WAYS

# kernel: (iterations of the benchmark, of which so many are run)
ITERATIONS = {"bt.C": (200, 2), "cg.B": (75 * 26, 20), "cg.C": (75 * 26, 20), "ep.C": (1, 1), "ft.B": (20, 1), "is.C": (10, 1), "lu.C": (250, 4),
              "mg.B": (20, 2), "mg.C": (20, 2), "sp.C": (400, 2)}
COALESCING_SECONDS = {  # [C] Table IV: default, disabled, Open-MX, Stream
    "bt.C": (271.2, 272.8, 273.3, 272.6), "cg.C": (90.04, 91.50, 90.76, 90.70), "ep.C": (31.30, 31.45, 31.49, 31.36), "ft.B": (24.24, 24.86, 24.21, 24.20),
    "is.C": (32.75, 37.03, 30.51, 31.96), "lu.C": (203.8, 202.4, 203.2, 206.6), "mg.C": (43.91, 43.63, 43.75, 43.72), "sp.C": (549.1, 551.1, 546.8, 546.1)}
MULTIQUEUE_SECONDS = {  # [Q] Table III: round robin, one core, several queues
    "cg.B": (34.62, 34.32, 33.68), "mg.B": (4.14, 4.19, 4.02), "ft.B": (22.80, 23.06, 21.34), "is.C": (14.69, 14.17, 5.62)}


def kernel(name, *more):
    return ("kernel", "--kernel", name, "--iterations", ITERATIONS[name][1], "--mpi", *EIGHT, *more)


def iteration_us(run, name, default_s, default, more):
    """An iteration with computing of such a length that the default takes as long as in the paper."""
    communicating = run(*kernel(name, *default))
    if not isinstance(communicating, dict):
        return 1.0  # not known yet
    computing = max(default_s / ITERATIONS[name][0] * 1e9 - communicating["us"] * 1e3, 0)
    return run(*kernel(name, "--compute-ns", round(computing), *more))["us"]


def ratio(name, default_s, default, more):
    return lambda run: iteration_us(run, name, default_s, default, more) / iteration_us(run, name, default_s, default, default)


def share(name, default_s, default):
    def ours(run):
        communicating = run(*kernel(name, *default))["us"]
        return 100 * communicating / (default_s / ITERATIONS[name][0] * 1e6)
    return ours


def coalescing_rows():
    for name, (default_s, *others) in COALESCING_SECONDS.items():
        for strategy, text, seconds in zip(("off", "openmx", "stream"), ("disabled", "Open-MX", "Stream"), others):
            yield Row(f"{name}.16, {text}", seconds / default_s, "", ratio(name, default_s, ("--strategy", "timeout"), ("--strategy", strategy)), digits=3)
        yield Row(f"{name}.16, default: share that communicates", None, "%", share(name, default_s, ("--strategy", "timeout")))


def multiqueue_rows():
    for name, (default_s, *others) in MULTIQUEUE_SECONDS.items():
        for way, text, seconds in zip(("bound", "queues"), ("one core", "several queues"), others):
            yield Row(f"{name}.16, {text}", seconds / default_s, "", ratio(name, default_s, WAYS["RR"], WAYS[way]), digits=3)
        yield Row(f"{name}.16, round robin: share that communicates", None, "%", share(name, default_s, WAYS["RR"]))
    default_s, _, queues_s = MULTIQUEUE_SECONDS["is.C"]
    yield Row("is.C.16, several queues, full rings lose frames", queues_s / default_s, "",
              ratio("is.C", default_s, (*WAYS["RR"], *LOSS), (*WAYS["queues"], *LOSS)), digits=3)


KERNELS = (
    "The kernels are our own: programs of messages that have sizes, counts, partners and order of the benchmarks for 16 processes (public definition, NPB 2 and 3 with MPI: "
    "`src/simulation/nic/kernels.cc`), and compute nothing but time. The first eight processes are on the first host, as MPI places them by default. What they send is not checked.",
    "Computing is a parameter made of the paper's default time: that time, divided by the benchmark's iterations, less what the model needs to communicate by default. So default times "
    "agree by construction, and only how they change is predicted. An error of a percent is often as large as the whole effect, so these figures are counted apart in the summary.",
    "Iterations run: " + ", ".join(f"{name} {run} of {all_}" for name, (all_, run) in ITERATIONS.items() if run < all_) + " (of CG: inner ones).",
)
COALESCING_KERNELS = Table("Table IV: the other NAS kernels on 16 processes, time relative to the default", list(coalescing_rows()), (
    *KERNELS,
    "IS class C: the paper's default takes five times as long as that of the journal (5.62 s), so something else than what is modelled here takes most of its time; all of it counts "
    "as computing here.",
    "LU, SP, MG: the paper's changes of up to a percent in either direction are noise by its own account (\"only non-negligible speedups are shown\")."), apart=True)
MULTIQUEUE_KERNELS = Table("Table III: CG, MG, FT and IS class C, time relative to round robin", list(multiqueue_rows()), (
    "Kernels, computing and iterations as for [C] Table IV, computing from the paper's round robin.",
    "FT: in the model one core is the limit of a single queue, and several queues bring the cable's rate. The paper gained 7 %, so something else was near its limit there; the journal "
    "names the memory bus, which all cores share and of which no paper gives a figure. The Alltoall above errs in the same direction.",
    "IS class C: of the 14.7 s of round robin the model communicates for less than half, and all else counts as computing, which steering cannot shorten. The paper wonders, too "
    "(class B, above)."), apart=True)
