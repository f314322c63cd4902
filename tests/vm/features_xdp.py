# SPDX-License-Identifier: BSD-3-Clause
"""Trials of AF_XDP and steering, which depend on the driver."""
import json
import re

from guests import Failure
from trial import BOTH, SHORT_SIZES, Refused, feature, perf


def attached(guests, host):
    shown = json.loads(guests.good(host, "ip -json -details link show dev eth0"))
    return shown[0].get("xdp", {}).get("attached", [])


def by_xdp(guests, mode, words):
    env = {"OMX_LINK": "xdp", "OMX_XDP_MODE": mode, "OMX_UDP_BULK": "0"}
    said = guests.good("h1", "omx info", env={**env, "OMX_INTERFACES": "eth0"})
    lines = [line.strip() for line in said.splitlines() if "AF_XDP" in line]
    if any("does not work" in line for line in lines):
        raise Refused(next(line for line in lines if "does not work" in line))
    if not any(words in line for line in lines):
        raise Failure(f"omx info does not say {words!r}, but: {' '.join(lines)[:300]}")
    if not perf(guests, env).count("Link Frames by AF_XDP"):
        raise Failure("no frame came by AF_XDP")
    for host in BOTH:
        if attached(guests, host):
            raise Failure(f"an XDP program is left on {host}: {attached(guests, host)}")


@feature("AF_XDP, native mode")
def xdp_native(guests):
    by_xdp(guests, "copy", "native mode")


@feature("AF_XDP, generic mode")
def xdp_generic(guests):
    by_xdp(guests, "generic", "generic mode")


@feature("AF_XDP, zero-copy")
def xdp_zerocopy(guests):
    by_xdp(guests, "zerocopy", "zero-copy")


def steered(guests, mode):
    try:
        for host in BOTH:
            status, said = guests.run(host, f"omx steer eth0 --mode {mode} --cpus 0-1 --map 0:1")
            if status:
                raise Refused(said.strip().splitlines()[-1])
        perf(guests, {"OMX_UDP_BULK": "0"}, sizes=SHORT_SIZES)
        said = guests.good("h1", "omx steer eth0 --show")
        arrived = re.search(r"endpoint 0 on processor 1: (\d+) frames arrived there, (\d+) elsewhere", said)
        if not arrived or int(arrived.group(1)) + int(arrived.group(2)) == 0:
            raise Failure(f"no frame was steered: {said.strip()}")
        if mode not in said:
            raise Failure(f"omx steer --show does not say {mode!r}: {said.strip()}")
    finally:
        for host in BOTH:
            guests.run(host, "omx steer eth0 --off")
    for host in BOTH:
        if attached(guests, host):
            raise Failure(f"omx steer --off left an XDP program on {host}: {attached(guests, host)}")


@feature("`omx steer`, native mode")
def steer_native(guests):
    steered(guests, "native")


@feature("`omx steer`, generic mode")
def steer_generic(guests):
    steered(guests, "generic")


@feature("`omx steer --flows`")
def steer_flows(guests):
    status, said = guests.run("h1", "omx steer eth0 --flows --cpus 0-1 --endpoints 4")
    if status:
        raise Refused(said.strip().splitlines()[-1])
    try:
        if "Filter" not in guests.good("h1", "ethtool -n eth0"):
            raise Failure("ethtool shows no rule")
        perf(guests, {"OMX_LINK": "udp4"}, sizes=SHORT_SIZES, peer="h1")
    finally:
        guests.run("h1", "omx steer eth0 --flows --off")
    if "Filter:" in guests.good("h1", "ethtool -n eth0"):
        raise Failure("omx steer --flows --off left a rule")
