# SPDX-License-Identifier: BSD-3-Clause
"""The part of bench/neighbours that runs inside the lab. The receiver is h1; h2 and up send to its port."""
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import time

from bench_run import MeasurementFailed, in_host, json_rows, perf_rows, run_client, serving

PARTS = ["shares", "latency", "incast"]
LINKS = {"raw": {"OMX_LINK": "ethernet"}, "udp": {"OMX_LINK": "udp"}}
RECEIVER, OURS, OTHERS = "h1", "h2", "h3"
RECEIVER_IP = "10.77.0.1"
ASLEEP = {"OMX_SPIN_US": "0"}
KIB, MIB = 1024, 1024 * 1024
SHARE_SIZES, INCAST_SIZES, PING_SIZES = (8 * KIB, 64 * KIB, MIB), (64 * KIB, MIB), (8, 64 * KIB)
IN_FLIGHT = 4 * MIB
FIRST_PORT = 47600  # of TCP flows: one server each
WARM_S = 1.0
OTHER_ENDPOINT = "5"  # of a stream beside a ping-pong
FLOW = [sys.executable, "-B", os.path.join(os.path.dirname(os.path.realpath(__file__)), "tcp_flow.py")]
PATIENCE_S = 60
END = "END"
SHELL = f'while read -r command; do $command; echo {END}; done'
BARE_COLUMNS = {"median": "median_us", "p99": "p99_us", "p999": "p999_us", "lost": "lost"}  # ours: the key of omx_floor and omx_tcp_peer
MOST_TRIPS = 250_000  # round trips of a ping-pong in a second, by far
LOOKS = 5  # at the round trips of TCP flows, in each measurement


class Neighbours:
    def __init__(self, plan):
        self.plan = plan
        self.omx, self.floor, self.tcp = (plan["programs"][name] for name in ("omx", "floor", "tcp"))
        self.shells = {}

    @contextlib.contextmanager
    def looking(self, hosts):
        """Keeps a shell on each host until the block ends. A program that starts while others are measured takes their processor."""
        with contextlib.ExitStack() as stack:
            self.shells = {host: stack.enter_context(running(in_host(host, ["sh", "-c", SHELL]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) for host in hosts}
            yield

    def asked(self, hosts, command):
        """Returns what the command prints on each host."""
        for host in hosts:
            self.shells[host].stdin.write(f"{command}\n")
            self.shells[host].stdin.flush()
        return [said_until(self.shells[host].stdout, f"{END}\n") for host in hosts]

    def bytes_of(self, hosts, direction):
        return [*map(int, self.asked(hosts, f"cat /sys/class/net/eth0/statistics/{direction}_bytes"))]

    def perf(self, link, host, *arguments, **settings):
        return in_host(host, [self.omx, "perf", "--timeout", str(PATIENCE_S), *arguments], {**ASLEEP, **LINKS[link], **settings})

    @contextlib.contextmanager
    def tcp_flows(self, count, senders):
        """Runs TCP flows to the receiver until the block ends. Fails if one of them sends nothing or ends early."""
        with contextlib.ExitStack() as stack:
            for i in range(count):
                stack.enter_context(serving(in_host(RECEIVER, [*FLOW, "receive", str(FIRST_PORT + i)]), ready="waiting"))
            flows = [stack.enter_context(running(in_host(senders[i % len(senders)], [*FLOW, "send", RECEIVER_IP, str(FIRST_PORT + i), self.plan["control"]]),
                                                 stdout=subprocess.PIPE, stderr=None, text=True)) for i in range(count)]
            for flow in flows:
                if "sending" not in flow.stdout.readline():
                    raise MeasurementFailed(f"a TCP flow with --control {self.plan['control']} sent nothing")
            yield
            if any(flow.poll() is not None for flow in flows):
                raise MeasurementFailed("a TCP flow ended before its measurement did")

    @contextlib.contextmanager
    def omx_stream(self, link, host, size, seconds, endpoint="0"):
        """Runs a stream from a host to the receiver until the block ends. Yields a function that waits for its end and returns what it said. Fails if
        the stream ends before the block and that was not called."""
        with serving(self.perf(link, RECEIVER, "--once", "-e", endpoint), ready="waiting"):
            client = self.perf(link, host, "h1", "--peer-endpoint", endpoint, "--wait", "--json", "-t", "stream", "-s", str(size),
                               "--window", str(max(IN_FLIGHT // size, 1)), *lasting(seconds), OMX_REPORT="json")
            waited = []
            with running(client, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                yield lambda: waited.append(True) or results_of(process, f"a stream of {size} B by {link}")
                if not waited and process.poll() is not None:
                    raise MeasurementFailed(f"a stream of {size} B by {link} ended before its measurement did")

    # --- parts ---

    def shares(self):
        rows = []
        lasts = self.plan["seconds"] + 2 * WARM_S
        for flows in self.plan["flows"]:
            with self.tcp_flows(flows + 1, [OURS, *[OTHERS] * flows]):
                rows.append({"part": "shares", "flows": flows, "what": "TCP", **self.shared()})
            for link in self.plan["links"]:
                for size in SHARE_SIZES:
                    with self.tcp_flows(flows, [OTHERS]), self.omx_stream(link, OURS, size, lasts) as ended:
                        found = self.shared()
                        out, said = ended()
                    rows.append({"part": "shares", "flows": flows, "what": f"{link} {size}", **found, **repeats(said),
                                 "goodput": perf_rows(out)[size]["gbit_per_s"]})
        return rows

    def rates(self, hosts, looks=0):
        """Returns what each host puts on the wire within the same seconds in Mb/s, and the round trips of the last host's TCP flows in us."""
        time.sleep(WARM_S)
        trips = []
        before, began = self.bytes_of(hosts, "tx"), time.monotonic()
        for _ in range(looks):
            time.sleep(self.plan["seconds"] / looks)
            trips += tcp_round_trips(*self.asked(hosts[-1:], "ss -tin state established"))
        time.sleep(max(began + self.plan["seconds"] - time.monotonic(), 0))
        after, took = self.bytes_of(hosts, "tx"), time.monotonic() - began
        return [(then - now) * 8 / took / 1e6 for now, then in zip(before, after)], trips

    def shared(self):
        (ours, others), trips = self.rates((OURS, OTHERS), LOOKS)
        row = {"ours": ours, "others": others}
        return row | ({"tcp_us": statistics.median(trips)} if trips else {})

    def latency(self):
        rows = []
        lasts = len(PING_SIZES) * self.plan["seconds"] + 4 * WARM_S + 4
        probes = [("TCP", self.tcp_probe), ("bare frames", self.floor_probe), *((link, lambda link=link: self.omx_probe(link)) for link in self.plan["links"])]
        beside = [("nothing", contextlib.nullcontext), *((f"{flows} TCP", lambda flows=flows: self.tcp_flows(flows, [OTHERS])) for flows in self.plan["flows"]),
                  *((f"stream by {link}", lambda link=link: self.omx_stream(link, OTHERS, 64 * KIB, lasts, OTHER_ENDPOINT)) for link in self.plan["links"])]
        for name, background in beside:
            for what, probe in probes:
                with background():
                    time.sleep(WARM_S)
                    rows += [{"part": "latency", "beside": name, "what": what, "size": size, **figures} for size, figures in probe().items()]
        return rows

    def omx_probe(self, link):
        with serving(self.perf(link, RECEIVER, "--once"), ready="waiting"):
            text = run_client(self.perf(link, OURS, "h1", "--wait", "--json", "-s", ",".join(map(str, PING_SIZES)), "--percentiles", "50,99,99.9",
                                        *lasting(self.plan["seconds"])), chatty=True)
        rows = perf_rows(text)
        return {size: {"median": rows[size]["median_us"], "p99": rows[size]["p99_us"], "p999": rows[size]["percentiles_us"]["99.9"]} for size in PING_SIZES}

    def tcp_probe(self):
        port = str(FIRST_PORT + 99)
        server = [self.tcp, "server", "--port", port]
        found = self.bare_probe(server, [self.tcp, "pingpong", "--peer", RECEIVER_IP, "--port", port])
        return {size: {name: value for name, value in figures.items() if name != "lost"} for size, figures in found.items()}  # TCP loses none

    def floor_probe(self):
        """What bare frames reach. Messages that do not fit in one are left out, and so are round trips that lost a frame."""
        receiver = self.asked([RECEIVER], "cat /sys/class/net/eth0/address")[0].strip()
        server, client = ([self.floor, "pingpong", role, "--interface", "eth0"] for role in ("server", "client"))
        return self.bare_probe([*server, "--blocking"], [*client, "--peer", receiver])

    def bare_probe(self, server, client):
        """Measures with programs that count round trips: more of them than fit into the time, which ends them."""
        seconds = self.plan["seconds"]
        found = {}
        for size in PING_SIZES:
            with serving(in_host(RECEIVER, server), settle_s=0.3):
                text = run_client(in_host(OURS, [*client, "--blocking", "--repeats", "1", "--sizes", str(size), "--iterations", str(int(seconds * MOST_TRIPS)),
                                                 "--at-most", str(seconds), "--warm-up", "20"]))
            found |= {size: {name: row[key] for name, key in BARE_COLUMNS.items()} for row in json_rows(text).values()}
        return found

    def incast(self):
        senders = [f"h{i + 2}" for i in range(self.plan["senders"])]
        rows = []
        with self.counting(senders) as counted, self.tcp_flows(len(senders), senders):
            rates = self.rates(senders)[0]
        rows.append({"part": "incast", "senders": len(senders), "what": "TCP", "rates": rates, **counted})
        for link in self.plan["links"]:
            for size in INCAST_SIZES:
                rows.append({"part": "incast", "senders": len(senders), "what": f"{link} {size}", **self.omx_incast(link, size, senders)})
        return rows

    @contextlib.contextmanager
    def counting(self, senders):
        """Yields a dictionary that has, after the block, the bytes that all senders sent within it and those that the receiver got."""
        counted = {}
        before = self.bytes_of(senders, "tx"), self.bytes_of([RECEIVER], "rx")
        yield counted
        time.sleep(WARM_S)  # what is in the port's queue arrives
        after = self.bytes_of(senders, "tx"), self.bytes_of([RECEIVER], "rx")
        counted |= {name: sum(then) - sum(now) for name, now, then in zip(("sent", "received"), before, after)}

    def omx_incast(self, link, size, senders):
        with contextlib.ExitStack() as stack:
            for host in senders:
                stack.enter_context(serving(self.perf(link, host), ready="waiting"))
            counted = stack.enter_context(self.counting(senders))
            client = self.perf(link, RECEIVER, *senders, "--pattern", "incast", "--wait", "--json", "-s", str(size), "--window", "8",
                               *lasting(self.plan["seconds"] + 2 * WARM_S))
            with running(client, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                rates = self.rates(senders)[0]
                out, _ = results_of(process, f"the incast of {len(senders)} senders")
        return {"rates": rates, **counted, "goodput": perf_rows(out)[size]["gbit_per_s"]}


def results_of(process, what):
    """Waits for the end of a client. Returns what it printed to stdout and to stderr."""
    out, said = process.communicate(timeout=PATIENCE_S)
    if process.returncode:
        raise MeasurementFailed(f"{what} failed: {said.strip()[-300:]}")
    return out, said


def said_until(stream, end):
    lines = []
    while (line := stream.readline()) != end:
        if not line:
            raise MeasurementFailed("a host of the lab ended during the measurement")
        lines.append(line)
    return "".join(lines)


def lasting(seconds):
    """Returns the options for a measurement of so many seconds."""
    return ["--min-time", str(seconds), "--max-time", str(seconds)]


def repeats(said):
    """Returns how many messages were sent again, as the report of OMX_REPORT=json tells."""
    for line in said.splitlines():
        if line.startswith("{"):
            return {"repeats": json.loads(line)["resends"]}
    return {}


def tcp_round_trips(said):
    """Returns the smoothed round trip of each TCP flow that `ss` told of, in us."""
    return [float(found) * 1000 for found in re.findall(r"\brtt:([0-9.]+)/", said)]


@contextlib.contextmanager
def running(command, **options):
    """Runs a command in the background until the block ends."""
    options.setdefault("stdout", subprocess.DEVNULL)
    options.setdefault("stderr", subprocess.DEVNULL)
    options.setdefault("stdin", subprocess.DEVNULL)
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def main(plan):
    bench = Neighbours(plan)
    try:
        with bench.looking([f"h{i + 1}" for i in range(plan["senders"] + 1)]):
            rows = getattr(bench, plan["part"])()
    except subprocess.TimeoutExpired:
        raise MeasurementFailed(f"no result within {PATIENCE_S} s ({plan['part']})") from None
    print(json.dumps(rows))
    return 0
