# SPDX-License-Identifier: BSD-3-Clause
"""The commands fault, cut, mend and faults."""
import json

from . import faults, registry
from .errors import EXIT_USAGE, LabError

DEFAULT_SEED = 1
OPEN_MX_ETHERTYPE = 0x86DF
ANY = 0  # ethertype in the eBPF program's terms


def parse_percent(text):
    percent = float(text.removesuffix("%"))
    if not 0 <= percent <= 100:
        raise ValueError
    return round(percent / 100 * faults.CERTAIN)


def parse_ethertype(text):
    if text == "all":
        return ANY
    value = int(text, 0)
    if not 1 <= value <= 0xFFFF:
        raise ValueError
    return value


def parse_byte(text):
    value = int(text, 0)
    if not 0 <= value <= 255:
        raise ValueError
    return value


def parse_seed(text):
    value = int(text, 0)
    if not 0 <= value < 1 << 64:
        raise ValueError
    return value


# argparse prints these as "invalid NAME value".
parse_percent.__name__ = "percentage (0..100)"
parse_ethertype.__name__ = "ethertype (such as 0x86DF, or all)"
parse_byte.__name__ = "packet type (0..255)"
parse_seed.__name__ = "seed (0..2^64-1)"


def add_commands(command, add_name, default_name):
    sub = command("fault", "drop, duplicate or corrupt frames of a host at random",
                  "lab fault [--name NAME] HOST [--drop P] [--dup P] [--corrupt P] [options]\n"
                  "       lab fault [--name NAME] HOST --clear [--direction in|out|both]")
    add_name(sub, default_name)
    sub.add_argument("host", metavar="HOST")
    sub.add_argument("--direction", choices=("in", "out", "both"), default="both",
                     help="direction as the host sees it (default both); "
                          "replaces the direction's whole earlier setting")
    for option, target, text in (
            ("--drop", "drop", "lose frames"),
            ("--dup", "duplicate", "deliver frames twice"),
            ("--corrupt", "corrupt", "flip one bit anywhere in frames")):
        sub.add_argument(option, dest=target, type=parse_percent, metavar="P",
                         help=f"{text}, P percent of them, such as 0.1")
    sub.add_argument("--seed", type=parse_seed, default=DEFAULT_SEED, metavar="S",
                     help=f"the same seed gives the same faults (default {DEFAULT_SEED})")
    sub.add_argument("--ethertype", type=parse_ethertype, default=OPEN_MX_ETHERTYPE,
                     metavar="E", help="which frames: an ethertype or all (default 0x86DF)")
    sub.add_argument("--type", type=parse_byte, metavar="N",
                     help="only frames whose byte 16, the Open-MX packet type, is N")
    sub.add_argument("--gso-batches", "--trains", dest="batches", action="store_true",
                     help="only GSO batches: several frames in one piece, for the NIC to split")
    sub.add_argument("--clear", action="store_true", help="no more faults; counters stay")

    sub = command("cut", "cut a host's cable: nothing passes in either direction")
    add_name(sub, default_name)
    sub.add_argument("host", metavar="HOST")
    sub.add_argument("--carrier", action="store_true",
                     help="the host loses its carrier too; needs no root")
    sub.add_argument("--cable", type=int, choices=range(4), metavar="K",
                     help="only the cable of ethK (labs with --cables)")
    sub = command("mend", "undo cut")
    add_name(sub, default_name)
    sub.add_argument("host", metavar="HOST")
    sub.add_argument("--cable", type=int, choices=range(4), metavar="K", help="only the cable of ethK")

    sub = command("faults", "show settings, and counters since the lab came up")
    add_name(sub, default_name)
    sub.add_argument("--json", action="store_true", help="for programs")


def do_fault(options, _script):
    lab = registry.find(options.name)
    host = lab.host(options.host)
    rates = {key: getattr(options, key) for key in ("drop", "duplicate", "corrupt")}
    given = any(rate is not None for rate in rates.values())
    if given == options.clear:
        raise LabError("give either --clear or at least one of --drop, --dup, --corrupt",
                       EXIT_USAGE)
    faults.need_root(lab)
    setting = {key: rate or 0 for key, rate in rates.items()}
    setting.update(seed=options.seed, ethertype=options.ethertype,
                   type=-1 if options.type is None else options.type, batches=int(options.batches))
    directions = list(faults.DIRECTIONS) if options.direction == "both" else [options.direction]
    if options.clear and not faults.ever_used(lab, host):
        return 0
    faults.set_rates(lab, host, directions, setting)
    return 0


def do_cut(options, _script):
    lab = registry.find(options.name)
    host = lab.host(options.host)
    if options.carrier:
        faults.set_carrier(lab, host, up=False, cable=options.cable or 0)
        return 0
    faults.need_root(lab)
    if options.cable is not None:
        faults.set_cable(lab, host, options.cable, cut=True)
        return 0
    faults.set_cut(lab, host, True)
    return 0


def do_mend(options, _script):
    lab = registry.find(options.name)
    host = lab.host(options.host)
    if options.cable is not None:
        faults.set_carrier(lab, host, up=True, cable=options.cable)
        faults.set_cable(lab, host, options.cable, cut=False)
        return 0
    if faults.carrier_is_cut(lab, host):
        faults.set_carrier(lab, host, up=True)
    if faults.ever_used(lab, host):
        faults.set_cut(lab, host, False)
    return 0


def percent(probability):
    return f"{100 * probability / faults.CERTAIN:.4g}%"


def setting_text(setting):
    if setting["cut"]:
        return "cut"
    parts = [f"{name} {percent(setting[key])}"
             for name, key in (("drop", "drop"), ("dup", "duplicate"), ("corrupt", "corrupt"))
             if setting[key]]
    if not parts:
        return "none"
    ethertype = setting["ethertype"]
    parts.append("all frames" if ethertype == ANY else f"ethertype 0x{ethertype:04X}")
    if setting["type"] >= 0:
        parts.append(f"type {setting['type']}")
    if setting["batches"]:
        parts.append("GSO batches only")
    return ", ".join(parts + [f"seed {setting['seed']}"])


def do_faults(options, _script):
    lab = registry.find(options.name)
    faults.need_root(lab)
    records = faults.read_all(lab)
    if options.json:
        print(json.dumps(records, indent=1))
        return 0
    if not records:
        print(f"no faults were set in lab {lab.name}")
        return 0
    names = faults.Counters._fields
    print(" ".join(["host", "dir"] + [f"{name:>10}" for name in names]) + "  setting")
    for record in records:
        numbers = " ".join(f"{record['counters'][name]:>10}" for name in names)
        print(f"{record['host']:4} {record['direction']:3} {numbers}  "
              f"{setting_text(record['setting'])}")
    return 0


COMMANDS = {"fault": do_fault, "cut": do_cut, "mend": do_mend, "faults": do_faults}
