# SPDX-License-Identifier: BSD-3-Clause
"""Endpoints with several boards, over two cables of 1 Gb/s each."""
import re
import time

from stage import MAC, Failure, await_counter, end_steady, finish, must_run, pair, scenario, steady

CABLES = {"cables": "2", "rate": "1gbit"}
RAILS = {"OMX_RAILS": "all"}


def carried(lab, cable):
    """Returns how many bytes h2 has received by a cable."""
    return int(lab.lab("exec", "h2", "--", "cat", f"/sys/class/net/eth{cable}/statistics/rx_bytes"))


def stripe(lab, cables):
    server = lab.start("h2", [lab.bin / "tools/omx", "perf", "--once"], RAILS)
    time.sleep(0.7)
    client = lab.start("h1", [lab.bin / "tools/omx", "perf", "h2", "--test", "stream", "--sizes", "4M", "--verify"], RAILS)
    out = finish("client", client, 0, 60)
    finish("server", server, 0, 10)
    print("  " + next(line for line in out.splitlines() if re.match(r"\s+4194304 ", line)))
    shares = [carried(lab, cable) for cable in range(cables)]
    print(f"  bytes by the cables: {shares}")
    if not all(0.8 < share * cables / sum(shares) < 1.2 for share in shares):
        raise Failure("one cable carried much more than another")


@scenario(mtu="9000", **CABLES)
def rails_stripe(lab):
    """A stream of large messages, every byte checked. Both cables carry about the same amount."""
    stripe(lab, 2)


@scenario(mtu="9000", cables="4", rate="500mbit")
def rails_stripe_four(lab):
    """The same stream over as many cables as an endpoint can use."""
    stripe(lab, 4)


def cut_in_the_middle(lab, cable, carrier=False):
    soaks = steady(lab, RAILS, "--seed", 21 + cable)
    await_counter(lab, soaks, "Rail Proven")
    lab.lab("cut", "h1", "--cable", cable, *(["--carrier"] if carrier else []))
    await_counter(lab, soaks, "Rail Suspected")
    before = carried(lab, 1 - cable)
    time.sleep(2)
    must_run(soaks, "the cable was mended")
    if carried(lab, 1 - cable) - before < 2_000_000:  # a sanitizer makes it slow
        raise Failure(f"cable {1 - cable} did not go on while cable {cable} was cut")
    lab.lab("mend", "h1", "--cable", cable)
    before = carried(lab, cable)
    end = time.time() + 20
    counters = ""
    while carried(lab, cable) - before < 5_000_000:
        must_run(soaks, f"cable {cable} was used again: {counters}")
        counters = lab.lab("exec", "h2", "--", lab.bin / "tools/omx", "counters")
        if time.time() > end:
            raise Failure(f"cable {cable} was not used again after it was mended: {counters}")
        time.sleep(0.2)
    end_steady(soaks)


@scenario(mtu="9000", **CABLES)
def rails_cut_the_second(lab):
    """One of two cables is cut under load, and mended. The other carries all, then both carry again. Nothing is lost.
    """
    cut_in_the_middle(lab, 1)


@scenario(mtu="9000", **CABLES)
def rails_cut_the_first(lab):
    """The same with the cable of the boards by which the two know each other."""
    cut_in_the_middle(lab, 0)


@scenario(mtu="9000", **CABLES)
def rails_carrier(lab):
    """A board loses its carrier under load, and gets it back."""
    cut_in_the_middle(lab, 1, carrier=True)


@scenario(mtu="9000", **CABLES)
def rails_busy_id(lab):
    """Another process has the endpoint id on one of the boards. That board is left out with a message, and messages
    pass."""
    other = lab.start("h1", [lab.bin / "tools/omx", "perf", "--board", 1, "--endpoint", 0])
    time.sleep(0.7)
    out = ""
    for host, soak in zip(MAC, pair(lab, RAILS, 2000)):
        out += finish(host, soak, 0, 120)
    other.terminate()
    other.wait()
    if "eth1 is left out" not in out:
        raise Failure(f"no message says that eth1 is left out: {out[-500:]}")


@scenario(mtu="9000", **CABLES)
def rails_libfabric(lab):
    """libfabric offers a domain for each board and one for all. Large messages of the latter use both cables."""
    env = {"FI_PROVIDER_PATH": str(lab.bin / "lib/libfabric")}
    offers = finish("fi_info", lab.start("h1", ["fi_info", "-p", "omx"], env), 0, 20)
    domains = re.findall(r"domain: (\S+)", offers)
    if domains != ["eth0", "eth1", "omx-all"]:
        raise Failure(f"the domains are {domains}")
    for domain, both in (("eth0", False), ("omx-all", True)):
        before = carried(lab, 1)
        program = ["fi_pingpong", "-p", "omx", "-d", domain, "-e", "rdm", "-I", 30, "-c", "-S", 4194304]
        server = lab.start("h2", program, env)
        time.sleep(1)
        client = lab.start("h1", [*program, "10.77.0.2"], env)
        finish(f"{domain} client", client, 0, 60)
        finish(f"{domain} server", server, 0, 30)
        if (carried(lab, 1) - before > 30_000_000) != both:
            raise Failure(f"domain {domain}: {carried(lab, 1) - before} bytes went by the second cable")
