#!/usr/bin/python3 -ES
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of lab/lab.  Exit status 77: this user or machine cannot have a lab."""
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import fault_tests  # noqa: E402,F401  (registers its tests after those below)
from harness import FRAMES, LAB, Lab, Skip, good, lab, main, test  # noqa: E402

NOBODY = 65534


@test
def up__hosts_have_names_addresses_and_their_own_sys():
    with Lab("--mtu", "9000,1500") as it:
        for number, mtu in ((1, "9000"), (2, "1500")):
            host = f"h{number}"
            out = it.host(host, "sh", "-c",
                          "hostname; ls /sys/class/net; cat /sys/class/net/eth0/mtu "
                          "/sys/class/net/eth0/address; ip -br addr show dev eth0").split("\n")
            assert out[0] == host and out[1:3] == ["eth0", "lo"], out
            assert out[3] == mtu and out[4] == f"02:4f:4d:58:00:0{number}", out
            assert f"10.77.0.{number}/24" in out[5] and " UP " in out[5], out


@test
def up__no_ip():
    with Lab("--no-ip") as it:
        assert "10.77" not in it.host("h1", "ip", "addr")


@test
def up__queues():
    for options, count in (((), 1), (("--queues", "3"), 3), (("--queues", "2", "--hosts", "3"), 2)):
        with Lab(*options) as it:
            for host in ("h1", "h2"):
                found = it.host(host, "ls", "/sys/class/net/eth0/queues").split()
                assert found == [f"{way}-{n}" for way in ("rx", "tx") for n in range(count)], found


@test
def up__many_hosts_can_all_be_entered():
    hosts = [f"h{n}" for n in range(1, 41)]
    with Lab("--hosts", str(len(hosts))) as it:
        for host in hosts:
            assert it.host(host, "hostname").strip() == host


@test
def up__name_in_use():
    with Lab() as it:
        done = it.do("up")
        assert done.returncode == 1 and "up already" in done.stderr, done


@test
def up__does_not_hold_the_output_of_its_caller():
    name = f"test-pipe-{os.getpid()}"
    # capture_output returns only when every writer has closed the pipe.
    good(lab("up", "--name", name))
    good(lab("down", "--name", name))


@test
def up__cable_is_quiet():
    with Lab() as it:
        for host in ("h1", "h2"):
            count = it.host(host, "cat", "/sys/class/net/eth0/statistics/rx_packets")
            assert count == "0\n", f"{host} received {count.strip()} frames from an idle lab"


@test
def exec__passes_status_arguments_environment_and_folder():
    with Lab() as it:
        assert it.do("exec", "h1", "--", "sh", "-c", "exit 7").returncode == 7
        assert it.do("exec", "h1", "--", "sh", "-c", "kill -9 $$").returncode == 137
        assert it.host("h1", "printf", "%s|", "a b", "--", "-x") == "a b|--|-x|"
        out = it.host("h2", "sh", "-c", "echo $LAB_NAME $LAB_HOST $LAB; pwd")
        assert out == f"{it.name} h2 {LAB}\n{os.getcwd()}\n", out


@test
def exec__passes_signals():
    with Lab() as it:
        process = it.start("h1", "sh", "-c",
                           "trap 'exit 5' TERM; echo ready; while :; do read x; done")
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        process.stdin.write("\n")
        process.stdin.close()
        assert process.wait(10) == 5


@test
def exec__from_one_host_into_another():
    with Lab() as it:
        assert it.host("h1", LAB, "exec", "h2", "--", "hostname") == "h2\n"


@test
def exec__errors_name_the_remedy():
    with Lab() as it:
        done = it.do("exec", "h9", "--", "true")
        assert done.returncode == 125 and "its hosts are h1 h2" in done.stderr, done
        assert it.do("exec", "h1", "--", "/no/such").returncode == 127
        assert it.do("exec", "h1", "--", "/etc/passwd").returncode == 126
    done = lab("exec", "--name", it.name, "h1", "--", "true")
    assert done.returncode == 125 and f"lab up --name {it.name}" in done.stderr, done


@test
def hosts__raw_frames_cross_the_cable():
    with Lab("--mtu", "65535") as it:
        for size in (64, 1514, 9014, 65549):
            result = it.traffic("h1", "h2", 50, "--size", str(size))
            assert result["arrived"] == 50 and result["damaged"] == 0, (size, result)


@test
def hosts__a_frame_above_the_far_mtu_is_lost():
    # On a switch, as on a wire, the sender does not learn of the loss. (On a veth cable it does: ENOBUFS.)
    with Lab("--mtu", "9000,1500", "--topology", "bridge") as it:
        assert it.traffic("h1", "h2", 5, "--size", "1514")["arrived"] == 5
        assert it.traffic("h1", "h2", 5, "--size", "9014")["arrived"] == 0


@test
def hosts__a_switch_sends_to_the_right_port():
    with Lab("--hosts", "3") as it:
        it.traffic("h3", "h1", 1)  # the switch learns where h3 is
        other = it.start("h2", FRAMES, "receive")
        assert other.stdout.readline() == "ready\n"
        assert it.traffic("h1", "h3", 20, "--to", "02:4f:4d:58:00:03")["arrived"] == 20
        assert '"arrived": 0' in other.communicate(timeout=10)[0]


@test
def hosts__a_router_forwards_ip_and_tells_of_its_mtu():
    with Lab("--topology", "router", "--mtu", "9000,1300") as it:
        assert it.traffic("h1", "h2", 5)["arrived"] == 0, "Ethernet frames cross no router"
        assert it.host("router", "hostname") == "router\n"
        assert "via 10.77.0.254" in it.host("h1", "ip", "route", "get", "10.77.0.2")
        send = ("import errno, socket, sys\n"
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "s.setsockopt(socket.IPPROTO_IP, 10, 2); s.connect(('10.77.0.2', 9)); s.settimeout(10)\n"  # IP_MTU_DISCOVER: DO
                "def tell(size):\n"
                "  try:\n"
                "    s.send(bytes(size - 28)); s.recv(1)\n"
                "  except OSError as e:\n"
                "    return errno.errorcode[e.errno], s.getsockopt(socket.IPPROTO_IP, 14)\n"  # IP_MTU
                "print(*tell(1300), *tell(1301), *tell(1301))\n")
        # The first size reaches a port without a listener. For the second size the router says what it
        # carries.
        assert it.host("h1", "python3", "-c", send).split() == [
            "ECONNREFUSED", "9000", "EMSGSIZE", "1300", "EMSGSIZE", "1300"]
        it.host("router", "ip", "route", "change", "10.77.0.1", "dev", "port1", "mtu", "1000")
        out = it.host("h2", "python3", "-c", send.replace("10.77.0.2", "10.77.0.1").replace("130", "100"))
        assert out.split() == ["ECONNREFUSED", "1300", "EMSGSIZE", "1000", "EMSGSIZE", "1000"], out
    done = lab("up", "--topology", "router", "--no-ip")
    assert done.returncode == 2 and "leave --no-ip out" in done.stderr, done


@test
def hosts__a_long_cable_delays_and_loses():
    answer = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.77.0.2', 9)); "
              "print('ready', flush=True)\nwhile True: s.sendto(*s.recvfrom(9000))")
    ask = ("import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('10.77.0.2', 9)); "
           "s.settimeout(0.2); n = 0; least = 9\n"
           "for i in range(100):\n"
           "  t = time.monotonic(); s.send(bytes([i]) * 1400)\n"
           "  try:\n"
           "    while s.recv(9000)[0] != i: pass\n"
           "    n += 1; least = min(least, time.monotonic() - t)\n"
           "  except TimeoutError: pass\n"
           "print(n, least)")
    with Lab("--delay", "5ms", "--loss", "20", "--rate", "100mbit") as it:
        server = it.start("h2", "python3", "-c", answer)
        assert server.stdout.readline() == "ready\n"
        came, least = it.host("h1", "python3", "-c", ask).split()
        server.kill()
        server.communicate()
        assert float(least) >= 0.01, least
        assert 30 <= int(came) <= 90, came  # 64 of them are expected
        good(it.do("fault", "h2", "--direction", "in", "--drop", "100", "--ethertype", "all"))
        assert it.host("h1", "python3", "-c", ask).split()[0] == "0"
    done = lab("up", "--delay", "5ms", "--topology", "bridge")
    assert done.returncode == 2 and "joins two hosts" in done.stderr, done
    done = lab("up", "--delay", "5 miles")
    assert done.returncode == 2 and "time" in done.stderr, done


@test
def hosts__a_port_of_a_switch_loses_what_its_queue_does_not_hold():
    take = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.77.0.3', 9)); print('ready', flush=True)\n"
            "n = 0\nwhile s.recv(9000) != b'end': n += 1\nprint(n, flush=True)")
    burst = ("import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('10.77.0.3', 9)); s.send(b'0')\n"
             "for i in range(100): s.send(bytes(1400))\n"
             "time.sleep(0.5); s.send(b'end')")
    for queue, least, most in (("20000", 5, 90), ("1M", 101, 101)):
        with Lab("--hosts", "3", "--rate", "20mbit", "--port-queue", queue) as it:
            server = it.start("h3", "python3", "-c", take)
            assert server.stdout.readline() == "ready\n"
            it.host("h1", "python3", "-c", burst)
            came = int(server.stdout.readline())
            server.communicate()
            assert least <= came <= most, (queue, came)
    for options, said in ((("--port-queue", "65536"), "--topology bridge and --rate"),
                          (("--hosts", "3", "--rate", "fast", "--port-queue", "65536"), "rate fast"),
                          (("--hosts", "3", "--rate", "1gbit", "--port-queue", "1"), "--port-queue: '1' is not a number of bytes from 2K to 1G"),
                          (("--hosts", "3", "--rate", "1gbit", "--port-queue", "64X"), "K, M or G may follow")):
        done = lab("up", *options)
        assert done.returncode == 2 and said in done.stderr, done


@test
def hosts__a_port_marks_packets_that_find_much_waiting():
    if os.geteuid() != 0:
        raise Skip("only root may load eBPF programs")
    # Prints how many datagrams came without, and with, the mark of a queue (both ECN bits).
    take = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.77.0.3', 9))\n"
            "s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1); print('ready', flush=True)\n"
            "count = [0, 0]\n"
            "while True:\n"
            "    data, control, _, _ = s.recvmsg(9000, 64)\n"
            "    if data == b'end': break\n"
            "    count[control[0][2][0] & 3 == 3] += 1\n"
            "print(*count, flush=True)")
    burst = ("import socket, sys, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('10.77.0.3', 9))\n"
             "s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(sys.argv[1]))\n"
             "for i in range(50): s.send(bytes(1400))\n"
             "time.sleep(0.5); s.send(b'end')")
    with Lab("--hosts", "3", "--rate", "20mbit", "--port-queue", "1000000", "--port-mark", "20000") as it:
        for ecn, marked in (("0", False), ("2", True)):
            server = it.start("h3", "python3", "-c", take)
            assert server.stdout.readline() == "ready\n"
            it.host("h1", "python3", "-c", burst, ecn)
            unmarked, with_mark = map(int, server.communicate()[0].split())
            assert unmarked + with_mark == 50, (unmarked, with_mark)
            assert (5 <= unmarked <= 45) if marked else with_mark == 0, (ecn, unmarked, with_mark)
        assert it.host("h1", "cat", "/proc/sys/net/ipv4/tcp_ecn").strip() == "1", "TCP takes part"


@test
def hosts__a_port_that_cannot_mark_is_refused():
    port = ("--hosts", "3", "--rate", "1gbit", "--port-queue", "64K")
    for mark in ("64K", "1M"):
        done = lab("up", *port, "--port-mark", mark)
        assert done.returncode == 2 and f"--port-mark {mark} is not less than --port-queue 64K" in done.stderr, done
    done = lab("up", "--hosts", "3", "--port-mark", "20000")
    assert done.returncode == 2 and "--port-queue" in done.stderr, done


@test
def hosts__abstract_sockets_and_shared_memory_are_apart():
    claim = ("import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0omx-test'); "
             "open('/dev/shm/omx-test', 'x'); print('mine', flush=True); input()")
    with Lab() as it:
        processes = [it.start(host, "python3", "-c", claim) for host in ("h1", "h2")]
        for process in processes:
            assert process.stdout.readline() == "mine\n"
            process.communicate("\n", timeout=10)


@test
def run__environment_and_status():
    out = good(lab("run", "--name", "x1", "--", "sh", "-c",
                   "echo $LAB_NAME; $LAB exec h2 -- hostname"))
    assert out == "x1\nh2\n", out
    assert lab("run", "--", "sh", "-c", "exit 9").returncode == 9
    assert lab("run", "--", "/no/such").returncode == 127


@test
def run__a_term_ends_it():
    process = subprocess.Popen([LAB, "run", "--", "sh", "-c", "echo ready; exec sleep 1000"],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.wait(10) == 128 + signal.SIGTERM


def namespaces_in_use():
    used = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            for kind in ("net", "pid", "mnt", "uts"):
                try:
                    used[os.readlink(f"/proc/{entry}/ns/{kind}")] = entry
                except OSError:
                    pass  # gone, or another user's
    return used


def traces_outside():
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        return sorted(os.listdir("/sys/class/net")), mounts.read()


@test
def run__nothing_is_left_after_kill_9():
    before = traces_outside()
    # Stubborn processes everywhere: in a host, beside the hosts, and in sessions of their own.
    script = ("trap '' TERM HUP INT; "
              "for h in h1 h2; do $LAB exec $h -- sh -c 'for n in net pid mnt uts; do "
              "readlink /proc/self/ns/$n; done; trap \"\" TERM HUP; exec setsid sleep 1000' & "
              "done; setsid sleep 1000 & exec sleep 1000")
    process = subprocess.Popen([LAB, "run", "--", "sh", "-c", script],
                               stdout=subprocess.PIPE, text=True)
    inside = {process.stdout.readline().strip() for _ in range(8)}
    assert len(inside) == 7, f"two hosts share more than the PID namespace: {inside}"
    assert inside <= set(namespaces_in_use())
    process.kill()
    process.wait(10)
    # Every sleep holds the write end of this pipe, so the end comes when all are dead.
    assert process.stdout.read() == ""
    process.stdout.close()
    # The dead processes have no parent now. The machine's process 1 may reap them late, and until then their
    # PID namespace is visible.
    deadline = time.monotonic() + 20
    while inside & set(namespaces_in_use()):
        assert time.monotonic() < deadline, f"left: {inside & set(namespaces_in_use())}"
    assert traces_outside() == before


@test
def run__orphans_end_with_it():
    # Reads to the end of the pipe, so it returns only if the orphan is dead.
    assert lab("run", "--", "sh", "-c", "setsid sleep 1000 & exit 3").returncode == 3


@test
def down__all_and_list():
    # Runs inside a lab, so that this user's other labs on the machine stay invisible.
    out = good(lab("run", "--", "sh", "-c",
                   "$LAB up --name in1 && $LAB up --name in2 && $LAB list && "
                   "$LAB down --all && echo -- && $LAB list"))
    above, below = out.split("--\n")
    assert "in1: cable" in above and "in2: cable" in above, out
    assert "in1" not in below and "in2" not in below and "run-" in below, out


@test
def rsh_agent__skips_options_and_finds_hosts():
    with Lab() as it:
        env = dict(os.environ, LAB_NAME=it.name)
        for where in (["h2"], ["-x", "-l", "root", "h2"], ["-n", "root@10.77.0.2"]):
            done = lab("rsh-agent", *where, "A=1;", "hostname; echo $A", env=env)
            assert done.stdout == "h2\n1\n", (where, done)


@test
def mpirun__spreads_ranks_over_hosts():
    with Lab() as it:
        line = good(it.do("mpirun", "--transport", "ofi:tcp;ofi_rxm", "-n", "3", "--show", "--", "-x", "A=1", "p"))
        assert "--host h1:2,h2:2 -np 3" in line and "'tcp;ofi_rxm'" in line and line.endswith("-x A=1 p\n"), line
        if shutil.which("mpirun") is None:
            raise Skip("needs mpirun: install the package openmpi-bin")
        out = good(it.do("mpirun", "-n", "4", "--", "hostname"))
        assert sorted(out.split()) == ["h1", "h1", "h2", "h2"], out
        assert it.do("mpirun", "--", "sh", "-c", "exit 3").returncode == 3
        for host in ("h1", "h2"):
            assert good(it.do("exec", host, "--", "ls", "/dev/shm")) == ""


@test
def mpirun__refuses():
    with Lab("--no-ip") as it:
        for status, argv in ((2, []), (2, ["--transport", "pigeons", "--", "true"]), (2, ["--", "true"])):
            done = it.do("mpirun", *argv)
            assert done.returncode == status, done
        assert "leave --no-ip out" in done.stderr, done


@test
def user__root_of_a_container():
    """Root without CAP_SYS_ADMIN, as in most containers."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None or shutil.which("unshare") is None:
        raise Skip("needs root and the package util-linux")
    no_namespaces = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\""
    confine = ["unshare", "--user", "--map-root-user", "sh", "-c", no_namespaces, "sh",
               "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    if subprocess.run([*confine, "true"], capture_output=True, check=False).returncode != 0:
        raise Skip("root may not confine itself here")
    done = lab("run", "--", "true", prefix=confine)
    assert done.returncode == 77 and "--privileged" in done.stderr, done
    assert "--cap-add SYS_ADMIN" in done.stderr and "as root" not in done.stderr, done


@test
def user__without_root():
    if os.geteuid() != 0:
        raise Skip("this whole run is without root")
    if shutil.which("setpriv") is None:
        raise Skip("needs setpriv: install the package util-linux")
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    script = ("$LAB exec h1 -- hostname; cd /; "
              f"(sleep 0.1; echo) | $LAB exec h2 -- {FRAMES} receive & "
              f"$LAB exec h1 -- {FRAMES} send 3; wait; "
              "$LAB fault h1 --drop 1; echo status $?; "
              "$LAB cut --carrier h1; $LAB exec h1 -- cat /sys/class/net/eth0/carrier; "
              "$LAB mend h1; $LAB exec h1 -- cat /sys/class/net/eth0/carrier")
    done = lab("run", "--", "sh", "-c", script, prefix=become)
    out = good(done).split("\n")
    assert out[0] == "h1" and "ready" in out, done
    assert "status 77" in out and "only real root" in done.stderr, done
    assert out[-3:-1] == ["0", "1"], done


if __name__ == "__main__":
    sys.exit(main())
