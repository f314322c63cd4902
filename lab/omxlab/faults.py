# SPDX-License-Identifier: BSD-3-Clause
"""Attaches and controls fault.bpf.c.

Where the programs sit, for host hN:

  cable    out: ingress of the other host's eth0     in: ingress of its own eth0
  bridge   out: ingress of the switch's portN        in: egress of the switch's portN

They never sit on the sender's own egress, which PACKET_QDISC_BYPASS and AF_XDP bypass. Settings and counters are in
maps pinned in the host's private /sys/fs/bpf, so programs, maps and pins all go away with the lab.
"""
import collections
import json
import os
import subprocess

from . import ebpf, enter, kernel
from .bpfmap import ArrayMap
from .ebpf import tc
from .errors import LabError, unable
from .holder import wait_for_carrier

PINS = "/sys/fs/bpf/tc/globals"  # where tc's libbpf pins by name
DIRECTIONS = {"in": 0, "out": 1}
CERTAIN = 1 << 32

# The layouts of struct fault_config and struct fault_counters in fault.bpf.c.
CONFIG_LAYOUT = "=QQQQQIiII"
Config = collections.namedtuple(
    "Config", "drop duplicate corrupt seed first ethertype type cut batches")
COUNTERS_LAYOUT = "=QQQQQQ"
Counters = collections.namedtuple("Counters", "seen matched dropped duplicated corrupted cut")

# `preference` orders filters on a hook. "out" of one host comes before "in" of the other, as on the way of a
# frame.
Hook = collections.namedtuple("Hook", "network interface attach preference section")


def hook(lab, host, direction):
    if lab.state["topology"] != "cable":
        network, interface = lab.state["switch"], host["port"]
        attach = "egress" if direction == "in" else "ingress"
    else:
        network = (host if direction == "in" else far_host(lab, host))["net"]
        interface, attach = "eth0", "ingress"
    preference = 10 if direction == "out" else 20
    return Hook(network, interface, attach, preference, f"tc/{direction}_at_{attach}")


def far_host(lab, host):
    return next(other for other in lab.hosts.values() if other is not host)


def ask_inside(lab, host, network, action):
    """Returns the result of action() with the host's mounts and the given network.

    It runs in a child, as a process cannot leave a user's namespaces again.
    """
    answer_read, answer_write = os.pipe()

    def answered():
        try:
            answer = {"result": action()}
        except LabError as error:
            answer = {"error": str(error), "status": error.status}
        except OSError as error:
            answer = {"error": f"the fault program could not be used: {error}", "status": 1}
        os.write(answer_write, json.dumps(answer).encode())
        return 0

    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = enter.call_inside(lab, enter.host_targets(lab, host, network), answered)
        finally:
            os._exit(status)
    os.close(answer_write)
    with os.fdopen(answer_read, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    if not text:
        raise LabError(f"host {host['name']} of lab {lab.name} could not be entered: "
                       "did the lab end meanwhile?")
    answer = json.loads(text)
    if "error" in answer:
        raise LabError(answer["error"], answer["status"])
    return answer["result"]


def need_root(lab):
    if not (ebpf.is_real_root() and kernel.same_namespace(lab.pid, "user")):
        raise unable("faults need an eBPF program, which only real root may load: "
                     "start the lab as root, or use cut --carrier")
    ebpf.need_programs("faults")


def filter_place(place):
    return ["dev", place.interface, place.attach, "pref", str(place.preference)]


def attached(place):
    return bool(tc("filter", "show", *filter_place(place)).strip())


def attach(place):
    if not attached(place):
        ebpf.attach("faults", "fault.bpf.c", place.section, place.interface, filter_place(place)[2:])


def config_map():
    return ArrayMap(f"{PINS}/lab_config", CONFIG_LAYOUT)


def counters_map():
    return ArrayMap(f"{PINS}/lab_counters", COUNTERS_LAYOUT)


def change(lab, host, directions, edit):
    """Lets edit(config, counters) return the new config of each direction.

    Programs are attached first, so that all directions change in one moment.
    """
    places = {direction: hook(lab, host, direction) for direction in directions}
    for place in places.values():
        ask_inside(lab, host, place.network, lambda: attach(place))
    idle = ask_inside(lab, host, None, lambda: edit_configs(directions, edit))
    for direction in idle:
        # Removes all cost for the traffic. Maps and counters stay.
        place = places[direction]
        ask_inside(lab, host, place.network, lambda: tc("filter", "delete", *filter_place(place)))


def edit_configs(directions, edit):
    """Changes the settings. Returns the directions that have no faults from now on."""
    configs, counters = config_map(), counters_map()
    idle = []
    for direction in directions:
        index = DIRECTIONS[direction]
        old = Config._make(configs.read(index))
        new = edit(old, Counters._make(counters.read(index)))
        configs.write(index, *new)
        if not (new.drop or new.duplicate or new.corrupt or new.cut):
            idle.append(direction)
    return idle


def set_rates(lab, host, directions, rates):
    change(lab, host, directions, lambda config, counters: config._replace(
        first=counters.matched, **rates))


def set_cut(lab, host, cut):
    change(lab, host, list(DIRECTIONS), lambda config, _: config._replace(cut=int(cut)))


def ever_used(lab, host):
    return ask_inside(lab, host, None, lambda: os.path.exists(f"{PINS}/lab_config"))


def carrier_place(lab, host):
    """Returns the far end of the host's cable, whose state is the host's carrier."""
    if lab.state["topology"] != "cable":
        return lab.state["switch"], host["port"]
    return far_host(lab, host)["net"], "eth0"


def set_cable(lab, host, cable, cut):
    """Cuts one of several cables without a carrier change, or mends it. When cut, both ends drop all that arrives."""
    name = f"eth{cable}"
    if cable >= lab.state.get("cables", 1):
        raise LabError(f"lab {lab.name} has {lab.state.get('cables', 1)} cables, counted from 0; "
                       "start it with more (--cables)")

    def action():
        subprocess.run(["tc", "qdisc", "del", "dev", name, "ingress"], capture_output=True, check=False)
        if cut:
            tc("qdisc", "add", "dev", name, "ingress")
            # A classic program of one instruction: return TC_ACT_SHOT.
            tc("filter", "add", "dev", name, "ingress", "protocol", "all", "bpf", "da", "bytecode", "1,6 0 0 2")
        return True

    for end in lab.hosts.values():
        ask_inside(lab, end, end["net"], action)


def set_carrier(lab, host, up, cable=0):
    network, interface = carrier_place(lab, host)
    if cable:
        network, interface = far_host(lab, host)["net"], f"eth{cable}"

    def action():
        state = "up" if up else "down"
        done = subprocess.run(["ip", "link", "set", "dev", interface, state],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LabError(f"ip could not set {interface} {state}: {done.stderr.strip()}")
        if up:
            wait_for_carrier(interface)
        return True

    ask_inside(lab, host, network, action)


def carrier_is_cut(lab, host):
    network, interface = carrier_place(lab, host)

    def action():
        shown = subprocess.run(["ip", "-json", "link", "show", "dev", interface],
                               capture_output=True, text=True, check=True).stdout
        return "UP" not in json.loads(shown)[0]["flags"]

    return ask_inside(lab, host, network, action)


def read_all(lab):
    """Returns one record for each host and direction that ever had a fault."""
    records = []
    for host in lab.hosts.values():
        def action():
            if not os.path.exists(f"{PINS}/lab_config"):
                return []
            configs, counters = config_map(), counters_map()
            return [[name, configs.read(index), counters.read(index)]
                    for name, index in DIRECTIONS.items()]

        for direction, config, counters in ask_inside(lab, host, None, action):
            records.append({
                "host": host["name"], "direction": direction,
                "setting": Config._make(config)._asdict(),
                "counters": Counters._make(counters)._asdict(),
            })
    return records
