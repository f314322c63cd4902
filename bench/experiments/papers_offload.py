# SPDX-License-Identifier: BSD-3-Clause
"""[I], the paper on copy offload, and [J], the journal: their figures, and the experiments that reproduce them."""
from papers_rows import COUNTS, EIGHT, FITTED, KIB, LARGE, MEDIUM, MIB, MX_WIRE, Row, SEVERAL, SHORT, TUNED, Table, as_gain, copied, mean, mib_per_s, over, pingpong, us

UNTUNED = ("--strategy", "timeout", "--sleep")
JUMBO, PLAIN = ("--mtu", "9000"), ("--mtu", "1500")
MX_WIRE_PLAIN = ("--mode", "mxoe", "--mtu", "1500")  # MX's wire format with MTU 1500, packets of 1 kB
EARLY = (*MX_WIRE, "--pull-blocks", 2)  # [I], footnote 3: two blocks of eight frames
JOURNAL = ("--mpi", "--set", "mpi_ns=0")  # MPI over its MTL
NATIVE_US = 2  # [J] 3.2: latency of native MX
BUSY_SIZES = (32 * KIB + 4, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB)
LARGE_SIZES = tuple(k << 10 for k in (64, 128, 256, 512, 1024, 2048, 4096))
GIGABIT = ("--set", "link_bits=1e9")


def received(how, size):
    return ("stream", "--size", size, "--iterations", 10 if size >= MIB else 60, "--window", 1, "--synchronous",
            "--copies", how, "--strategy", "off", "--interrupts", "bound", "--cores", 0, *EARLY)


def synchronous(how, size):
    def ours(run):
        result = run(*received(how, size))
        return 100 * (result["receiver_interrupt_us"] + result["receiver_process_us"]) / result["time_us"]
    return ours


def available(how):
    """Returns how long the receiver's processor idles, in percent, mean of the sizes."""
    return mean([lambda run, size=size: 100 - synchronous(how, size)(run) for size in BUSY_SIZES])


def idle_us(how, size):
    return lambda run: run(*received(how, size))["us"] * (100 - synchronous(how, size)(run)) / 100


def early(how, size=4 * MIB, *more):
    return copied(how, size, *TUNED, *EARLY, *more)


def by_default_rows():
    """Returns the ping-pong's figures of 4 MB with the NIC's default coalescing: [I] does not say which it had."""
    for what, published, how in (("copied by the processor", 800, "processor"), ("by I/OAT", 1114, "engine"), ("not copied", 1186, "ignored")):
        yield Row(f"4 MB, {what}, coalescing by default", published, "MiB/s", copied(how, 4 * MIB, *UNTUNED, *EARLY), counted=False)


FRAMES_4K = ("--mtu", 4160)  # data of 4 kB in frames of our own format: blocks of 32


def deeper_gain(*settings):
    """Returns the gain of blocks of 32 frames over MX's 8, of frames of 4 kB."""
    return over(copied("engine", 4 * MIB, *JOURNAL, *settings, *FRAMES_4K), copied("engine", 4 * MIB, *JOURNAL, *settings, *MX_WIRE))


def larger_gain(*settings):
    """Returns the gain of frames of 9000 B over frames of 4 kB, of blocks of 32."""
    return over(copied("engine", 4 * MIB, *JOURNAL, *settings, *JUMBO), copied("engine", 4 * MIB, *JOURNAL, *settings, *FRAMES_4K))


def medium_us(how):
    return us(*pingpong("--size", 32 * KIB, *TUNED, *EARLY, "--copies", how))


def pinning_ns(run):
    """Returns how long it may take to pin a page on both sides until avoiding that saves as much as the engine."""
    saved = us(*pingpong("--size", 4 * MIB, "--iterations", 3, *TUNED, *EARLY, "--mpi", "--copies", "processor"))(run) - us(
        *pingpong("--size", 4 * MIB, "--iterations", 3, *TUNED, *EARLY, "--mpi", "--copies", "engine"))(run)
    return saved * 1e3 / (2 * 4 * MIB / 4096)


def offload_gain(*settings):
    return over(copied("engine", 4 * MIB, *JOURNAL, *settings), copied("processor", 4 * MIB, *JOURNAL, *settings))


def alltoall_us(how, size, cores, *settings):
    return us("alltoall", "--size", size, "--iterations", 1, "--copies", how, *settings, "--cores", *cores)


def alltoall_gain(size, cores, *settings):
    return over(alltoall_us("processor", size, cores, *settings), alltoall_us("engine", size, cores, *settings))


def operations_gain(size, cores):
    """Returns the mean gain of Ping-pong and Alltoall of the Intel MPI Benchmarks."""
    where = ("--mpi", "--strategy", "off", "--interrupts", "bound", *EARLY)
    return mean([over(early("engine", size, "--mpi"), early("processor", size, "--mpi")), alltoall_gain(size, cores, *where)])


mean_gain = mean([over(early("engine", s << 10, "--mpi"), early("processor", s << 10, "--mpi")) for s in (128, 256, 512, 1024, 2048, 4096)])


def half_native(*settings):
    return lambda run: (us(*pingpong(*JOURNAL, *settings, *JUMBO))(run) + NATIVE_US) / 2


def table2_rows():
    tuned16 = ("--strategy", "off", "--interrupts", "bound")  # eight processes a host: on all cores
    for name, percent, percent16, settings, settings16, wire in (
            ("MTU 9000", 24.3, 10.6, UNTUNED, UNTUNED, MX_WIRE), ("MTU 9000, tuned", 32.2, 57.2, TUNED, tuned16, MX_WIRE),
            ("MTU 1500", 10.4, 7.6, UNTUNED, UNTUNED, MX_WIRE_PLAIN), ("MTU 1500, tuned", 0.7, 5.6, TUNED, tuned16, MX_WIRE_PLAIN)):
        gain, gain16 = offload_gain(*settings, *wire), alltoall_gain(MIB, EIGHT[1:], *JOURNAL, *settings16, *wire)
        yield Row(f"{name}, Pingpong", 1 + percent / 100, "", gain, digits=3, null=1, gain=True)
        yield as_gain(percent, f"{name}, Pingpong, gain", gain)
        yield Row(f"{name}, Alltoall of 16", 1 + percent16 / 100, "", gain16, digits=3, null=1, gain=True, of=SEVERAL)
        yield as_gain(percent16, f"{name}, Alltoall of 16, gain", gain16)


OFFLOAD = (
    Table("[I] Fig. 3 and 8, [J] Fig. 10: throughput of a ping-pong", [
        Row("4 MB, copied by the processor", 800, "MiB/s", early("processor"), choice=True),
        Row("the same, II-B (at most 7 Gb/s)", 7, "Gb/s", lambda run: early("processor")(run) * MIB * 8 / 1e9, bound="<"),
        Row("4 MB, by I/OAT", 1114, "MiB/s", early("engine"), null=800, choice=True),
        Row("4 MB, not copied (line rate)", 1186, "MiB/s", early("ignored"), null=800, choice=True),
        Row("IV-B: I/OAT over processor, 64 kB to 4 MB, most (up to 50 %)", 1.5, "", lambda run: max(
            [over(early("engine", size), early("processor", size))(run) for size in LARGE_SIZES]), null=1, gain=True, choice=True),
        Row("256 kB, I/OAT over not copied (up to 26 % less)", 0.74, "", over(early("engine", 256_000), early("ignored", 256_000)), null=1, gain=True, choice=True),
        Row("256 kB, I/OAT over processor (more than 20 % more)", 1.2, "", over(early("engine", 256_000), early("processor", 256_000)), bound=">"),
        *by_default_rows(),
    ], ("Two blocks of eight frames are requested at a time, as [I] says in its footnote 3 ([J]: four, its footnote 1).",
        "256 kB, I/OAT over not copied: the paper blames \"management cost\" and \"raw copy performance not totally exploited\". What it gives of them (350 ns for a descriptor, one or two for a page, "
        "completion for nothing) is hidden behind a cable that needs 3.4 us for a frame. A quarter of the time of 256 kB is 55 us, which nothing in the text accounts for.",
        "4 MB copied by the processor: too fast, so all gains of the engine are too small, by the costs of replies, which were fitted to the loads of Fig. 9 (beginning of this document).",
        "Coalescing by default: two blocks of 32 kB then come with each 75 us. The paper's throughput excludes it in this model, so the choice is not free."), of=LARGE),
    Table("[I] Fig. 9, [J] Fig. 11: the receiver's processor, a stream of synchronous messages", [
        Row("32 kB, processor", 50, "%", synchronous("processor", 32 * KIB + 4), use=FITTED),
        Row("32 kB, I/OAT", 42, "%", synchronous("engine", 32 * KIB + 4), use=FITTED, null=50),
        Row("4 MB, processor", 95, "%", synchronous("processor", 4 * MIB), use=FITTED),
        Row("4 MB, I/OAT", 60, "%", synchronous("engine", 4 * MIB), use=FITTED, null=95),
        Row("[J] 5.3: idle during communication, processor, mean of sizes", 28, "%", available("processor"), use=FITTED),
        Row("[J] 5.3: idle during communication, I/OAT, mean of sizes", 48, "%", available("engine"), use=FITTED, null=28),
        Row("[J] 5.3: time, I/OAT over processor, mean of sizes (less by a third)", 2 / 3, "", mean(
            [over(us(*received("engine", size)), us(*received("processor", size))) for size in BUSY_SIZES]), null=1, gain=True, of=LARGE, choice=True),
        Row("[J] 5.3: idle time of a message, I/OAT over processor, mean of sizes", 1.1, "", mean(
            [over(idle_us("engine", size), idle_us("processor", size)) for size in BUSY_SIZES]), use=FITTED, null=1),
    ], ("4 MB: the two figures of the paper do not agree on what a frame costs. 95 % at 800 MiB/s are 4.6 us a frame of 4 kB, of which the copy at 1.5 GiB/s is 2.5 us, so 2.1 us are left for the "
        "driver, as much as in [C]. 60 % at 1114 MiB/s are 2.1 us, of which descriptors are 0.5 us, so 1.6 us are left. The paper says that copies by I/OAT spare the cache, "
        "and gives no figure; in the model the driver needs the same time with both, and the fit of `reply_ns` to the four loads takes the second.",
        "32 kB: the model's rendezvous is quicker than theirs, so its receiver idles less. No time for pinning memory is in the model, as the papers give none; they count it.",
        "\"32 kB\" stands for the smallest message that goes by rendezvous. [I] IV-A offloads messages from 64 kB on, its IV-B shows 32 kB with I/OAT; the model "
        "offloads all that go by rendezvous.",
        "[J] 5.3: the text does not name the sizes of its averages; ours are 32 kB to 4 MB, doubling. Its figures follow from each other: 48 % of two thirds are a tenth more than 28 % "
        "of the whole. With I/OAT the model has them; by the processor it idles too little, which makes the last ratio large. As means of Fig. 11, which is Fig. 9 of [I], they count as fitted."), of=COUNTS),
    Table("[I] Fig. 11 and 12, [J] 5.2 and 5.5: IMB", [
        Row("0 B, tuned, MTU 9000", 7.3, "us", us(*pingpong(*JOURNAL, *TUNED, *JUMBO)), use=FITTED, null=70, of=SHORT),
        Row("0 B, not tuned, MTU 9000", 70, "us", us(*pingpong(*JOURNAL, *UNTUNED, *JUMBO)), of=SHORT),
        Row("5.5: 0 B, tuned, the peer has native MX", 4.6, "us", half_native(*TUNED), use=FITTED, null=38, of=SHORT),
        Row("5.5: 0 B, not tuned, the peer has native MX", 38, "us", half_native(*UNTUNED), counted=False),
        Row("5.2: 4 MB, tuned over not tuned (up to)", 2, "", over(copied("engine", 4 * MIB, *JOURNAL, *TUNED, *MX_WIRE), copied("engine", 4 * MIB, *JOURNAL, *UNTUNED, *MX_WIRE)), null=1, gain=True),
        Row("I/OAT over processor, 128 kB to 4 MB, mean", 1.3, "", mean_gain, null=1, gain=True, choice=True),
        as_gain(30, "the same, gain", mean_gain),
        Row("Fig. 11: pinning of a page by which a registration cache saves as much as I/OAT, 4 MB", None, "ns", pinning_ns),
        Row("IV-C: time of 32 kB, fragments copied by I/OAT over processor (degradation)", 1, "", over(medium_us("all"), medium_us("processor")), bound=">", of=MEDIUM, choice=True, digits=3),
        Row("Fig. 12: 128 kB, I/OAT over processor", 1.24, "", mean([operations_gain(128 * KIB, (0,)), operations_gain(128 * KIB, (0, 2))]), null=1, gain=True, choice=True),
        Row("Fig. 12: 4 MB, 1 process a host", 1.32, "", operations_gain(4 * MIB, (0,)), null=1, gain=True, choice=True),
        Row("Fig. 12: 4 MB, 2 processes a host", 1.41, "", operations_gain(4 * MIB, (0, 2)), null=1, gain=True, choice=True, of=SEVERAL),
    ], ("The journal uses Open MPI's MTL, which its footnote 3 calls faster because Open-MX does the matching. With the 2 us of MPI in [Q], which used an older Open MPI, the model has 2 us more; so MPI is left "
        "out (`mpi_ns=0` for all of [J]), which 7.3 us decided.",
        "Not tuned: as [C] IV-B3; the delay begins with the frame, and cores sleep. The journal does not say which delay its driver had.",
        "5.5: \"the average of the latencies of MX and Open-MX\", so ours with the 2 us that [J] 3.2 gives for MX. They have the 7.3 us, which are fitted, and the 70 us in other words.",
        "Fig. 11: the paper finds the registration cache much less important than I/OAT, without a figure, and no paper has the time of pinning. In the model the cache would matter as much "
        "if pinning a page took as long as the table says, on each of both hosts. Open-MX in user space pins nothing, so the cache has no counterpart: "
        "[live](evaluation-live.md#i-fig-11-what-a-registration-cache-would-tell-apart) are new pages beside used ones, and the kernel's pinning for each call.",
        "IV-C: degraded in the model because the engine leaves a fragment in no cache, and the library then copies it from memory. The paper blames small copies that do not overlap. "
        "[Live](evaluation-live.md#i-iv-c-fragments-of-medium-messages-copied-by-the-engine) it is measured with a helper thread (`OMX_COPY_MEDIUM=1`).",
        "Fig. 12 is a mean of all IMB operations, ours one of Pingpong and Alltoall. The paper's 41 % contain that the engine also copies between processes of a host, which the model's does not."), of=LARGE),
    Table("[J] Table 2, Fig. 12: MTU; 4 MB with I/OAT over without", [
        *table2_rows(),
        Row("MTU 9000 over 1500, tuned, I/OAT", 2, "", over(copied("engine", 4 * MIB, *JOURNAL, *TUNED, *MX_WIRE), copied("engine", 4 * MIB, *JOURNAL, *TUNED, *MX_WIRE_PLAIN)), null=1, gain=True),
        Row("MTU 9000 over 1500, tuned, I/OAT, frames as large as the MTU", 2, "", over(
            copied("engine", 4 * MIB, *JOURNAL, *TUNED, *JUMBO), copied("engine", 4 * MIB, *JOURNAL, *TUNED, *PLAIN)), counted=False),
        Row("5.4: 1 Gb/s, MTU 9000 over 1500 (3 %)", 1.03, "", over(copied("processor", 4 * MIB, *JOURNAL, *UNTUNED, *MX_WIRE, *GIGABIT),
                                                                 copied("processor", 4 * MIB, *JOURNAL, *UNTUNED, *MX_WIRE_PLAIN, *GIGABIT)), digits=3, null=1, gain=True),
    ], ("Four blocks of eight packets are requested at a time, as the journal says in its footnote 1. Frames are MX's, powers of two up to 4 kB: only 5.5 turns to larger ones, \"now\". "
        "So MTU 1500 means 1 kB of data, "
        "and \"is only interesting when the incoming packets are larger than 1 kB\" explains why I/OAT gains nothing there.",
        "Alltoall of 16: blocks of 1 MiB instead of 4, beyond which rates do not change; the caption's \"16 hosts\" are taken for 16 processes, as there were two hosts. Tuned: all interrupts on one core.",
        "Alltoall of 16, MTU 9000: the model gains as much tuned as not, for its one queue is what is full; the paper gained a tenth where it was not tuned and more than half where it was. Its text does not say why.",
        "MTU 9000 over 1500: [C] has 452 MiB/s by frames of 1500 bytes. Half of the journal's 10 Gb/s by smaller frames are more than that; its version was a later one. So no model has both.",
        "The papers' own figures for MTU 1500 do not fit together: more than ten percent where it was not tuned, none where it was."), of=LARGE),
    Table("[J] Fig. 14: larger packets and larger blocks, 4 MB with I/OAT", [
        Row("frames of 9000 B over 4 kB, tuned (improves significantly)", 1, "", larger_gain(*TUNED), bound=">", digits=3),
        Row("frames of 9000 B over 4 kB, not tuned (improves significantly)", 1, "", larger_gain(*UNTUNED), bound=">", digits=3),
        Row("blocks of 32 over 8 frames, not tuned (helps dramatically)", 1, "", deeper_gain(*UNTUNED), bound=">", digits=3),
        Row("blocks of 32 over 8 frames, tuned", None, "", deeper_gain(*TUNED), digits=3),
        Row("the gain of larger blocks, not tuned over tuned (tuned is not as significantly improved)", 1, "", over(deeper_gain(*UNTUNED), deeper_gain(*TUNED)), bound=">", digits=3),
    ], ("The text has orders and no figures. Frames of 4 kB in blocks of 8 are MX's, in blocks of 32 our own format with MTU 4160.",
        "Larger frames: the paper says significantly, in all cases. In the model they gain 1 %, so this order holds in name only, because the cable is the limit where it is tuned, and the delay where it is not."), of=LARGE),
)
