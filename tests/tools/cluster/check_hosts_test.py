#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_hosts_test.py CASE OMX: tests `omx check --hosts` and `--job` on hosts of the lab."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve()
LAB = str(HERE.parents[3] / "lab" / "lab")
UNABLE, FIT, NOT_FIT, NOT_CHECKED = 77, 0, 1, 2
TIMEOUT_S = 280
SVG = "{http://www.w3.org/2000/svg}"
failures = 0


def expect(what, truth, got=""):
    global failures
    if not truth:
        failures += 1
        print(f"FAILED: {what}\n{got}")


class Lab:
    """A lab of hosts for the length of a with statement. Skips the test where there can be none."""

    def __init__(self, *options):
        self.name, self.options = f"check-hosts-{os.getpid()}", options

    def __enter__(self):
        done = self.do("up", *self.options)
        if done.returncode == UNABLE:
            print(done.stderr.strip())
            sys.exit(UNABLE)
        expect("the lab starts", done.returncode == 0, done.stderr)
        return self

    def __exit__(self, *_):
        self.do("down")

    def do(self, command, *arguments):
        return subprocess.run([LAB, command, "--name", self.name, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False)

    def on(self, host, *command):
        done = self.do("exec", host, "--", *command)
        expect(f"{command} on {host}", done.returncode == 0, done.stderr)
        return done.stdout

    def launch(self, folder, special=""):
        """Writes a program that starts an agent on a host, as ssh would do. `special` is for single hosts."""
        path = pathlib.Path(folder, "launch")
        path.write_text(f'#!/bin/sh\nhost=$1\n{special}\nexec {LAB} exec --name {self.name} "$host" -- "$2" check --agent\n')
        path.chmod(0o755)
        return f"{path} {{host}} {{omx}}"


def cluster(hosts, launch):
    """Returns options. Speed depends on the load of the machine, so it decides nothing."""
    return "--hosts", hosts, "--launch", launch, "--deviations", "0"


def check(omx, *options, status, environment=None):
    done = subprocess.run([omx, "check", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False, env=environment)
    expect(f"omx check {' '.join(options)}: status {status}", done.returncode == status,
           f"status {done.returncode}\n{done.stdout[-4000:]}{done.stderr}")
    return done.stdout + done.stderr


def finding(report, trouble, hosts, text):
    """Expects one finding with that trouble, about these hosts."""
    found = [f for f in report["findings"] if f["trouble"] == trouble and f["hosts"] == hosts]
    expect(f"{trouble} of {hosts}: {text}", any(re.search(text, f["text"]) for f in found), json.dumps(report["findings"], indent=1))


def unfit(report):
    return [f for f in report["findings"] if f["unfit"]]


def bad_cable(lab):
    """Damages the cable of h5. Faults need more than a lab does."""
    done = lab.do("fault", "h5", "--drop", "2", "--seed", "7", "--ethertype", "all")
    if done.returncode == UNABLE:
        print(done.stderr.strip())
        sys.exit(UNABLE)
    expect("the fault is set", done.returncode == 0, done.stderr)


def picture_cells(path):
    """Returns the titles of the cells of a picture."""
    return [title.text for title in xml.etree.ElementTree.parse(path).iter(f"{SVG}title")]


def faults(omx, folder):
    """Sixteen hosts: a bad cable, a small MTU, a name twice, an old setting, a silent host, one that cannot be started."""
    with Lab("--hosts", "16", "--mtu", "9000") as lab:
        bad_cable(lab)
        lab.on("h9", "ip", "link", "set", "dev", "eth0", "mtu", "1500")
        lab.on("h12", "hostname", "h11")
        launch = lab.launch(folder, """case $host in
          h7) export OMX_RNDV_THRESHOLD=8192;;
          h13) echo 'ssh: connect to host h13: No route to host' >&2; exit 255;;
          h14) exec sleep 1000;;
        esac""")
        picture = f"{folder}/map.svg"
        report = json.loads(check(omx, *cluster("h[1-16]", launch), "--limit", "20", "--frames", "1000", "--json",
                                  "--heatmap", picture, status=NOT_FIT))
        expect("not fit", report["fit"] is False)
        finding(report, "no answer", ["h13"], "agent ended .*No route to host")
        finding(report, "no answer", ["h14"], "does not answer")
        finding(report, "loss", ["h5"], r"h5 with 1[0-3] of 13 hosts by raw frames: sent: .* exchange the cable of h5")
        finding(report, "loss", ["h5"], r"by UDP")
        finding(report, "differs", ["h9"], "h9: the MTU is 1500, on the other 13 hosts 9000")
        finding(report, "twice", ["h11", "h12"], "the same host name h11")
        finding(report, "differs", ["h7"], "h7: OMX_RNDV_THRESHOLD is 8192, on the other 13 hosts 32768")
        expect("these and no others", len(unfit(report)) == 7, json.dumps(unfit(report), indent=1))
        expect("the worst first", [f["trouble"] for f in report["findings"]][:3] == ["no answer", "no answer", "loss"])
        # All pairs of the 14 hosts, in both directions, by two links.
        expect("all paths", len(report["paths"]) == 14 * 13 * 2, len(report["paths"]))
        lost = {h for p in report["paths"] if p["received"] < p["sent"] for h in (p["from"], p["to"])}
        clean = [p for p in report["paths"] if "h5" not in (p["from"], p["to"]) and p["received"] != p["sent"]]
        expect("only paths of h5 lose frames", "h5" in lost and not clean, clean)
        cells = picture_cells(picture)
        expect("a cell for each path and panel", len(cells) == 3 * len(report["paths"]), len(cells))
        expect("cells name their path", any(re.match(r"h5 to h1: \d+ of \d+ lost", cell) for cell in cells), cells[:3])


def pairs(omx, folder):
    """Few hosts: what is fit, what is not reached, and all that can be wrong with the command line."""
    with Lab("--hosts", "3") as lab:
        launch = lab.launch(folder)
        hosts = pathlib.Path(folder, "hosts")
        hosts.write_text("# of this test\nh1 slots=2\nh2\nh3\n")
        text = check(omx, *cluster(str(hosts), launch), "--frames", "1000", "--loss", "0.5", status=FIT)
        expect("fit", text.startswith("fit: 3 hosts\n"), text)
        expect("a line for each link", re.search(r"^raw frames: 6 of 6 paths reached, 0 of \d+ frames lost$", text, re.M), text)
        expect("UDP as well", re.search(r"^UDP: 6 of 6 paths reached", text, re.M), text)
        report = json.loads(check(omx, *cluster("h1,h2,h3", launch), "--links", "raw", "--frames", "100", "--sample",
                                  "1", "--pairs", "1", "--json", status=FIT))
        expect("a sample of one partner", len(report["paths"]) == 2, report["paths"])
        expect("all frames", all(p["sent"] >= 100 and p["received"] == p["sent"] for p in report["paths"]), report["paths"])
        expect("the largest frames", all(p["frame_bytes"] == 1514 for p in report["paths"]), report["paths"])
        report = json.loads(check(omx, *cluster("h1,h2,h3", launch), "--links", "raw,xdp", "--frames", "1000", "--json",
                                  status=FIT))
        report["paths"] = [path for path in report["paths"] if path["link"] == "xdp"]
        if report["paths"]:
            expect("all frames by AF_XDP", all(p["reached"] and p["received"] == p["sent"] for p in report["paths"]), report["paths"])
        else:
            finding(report, "note", ["h1", "h2", "h3"], "AF_XDP cannot be used: ")
        expect("facts of each host", [h["facts"]["name"] for h in report["hosts"]] == ["h1", "h2", "h3"])

        lab.on("h3", "ip", "link", "set", "dev", "eth0", "address", "02:4f:4d:58:00:01")
        lab.on("h1", "ip", "address", "flush", "dev", "eth0")
        text = check(omx, *cluster("h1,h2,h3", launch), "--frames", "100", status=NOT_FIT)
        expect("twins", "h1 and h3 have the same MAC address 02:4f:4d:58:00:01; give each NIC its own" in " ".join(text.split()), text)
        expect("a link that is missing", re.search(r"link +h1: UDP cannot be used: ", text), text)
        lab.do("cut", "h2")
        text = check(omx, *cluster("h1,h2", launch), "--links", "raw", "--frames", "100", status=NOT_FIT)
        expect("not reached", "h1 and h2 by raw frames: no frame is answered; look at the cable" in " ".join(text.split()), text)

    nothing = "false {host}"
    for options, why in (
            (["--hosts", "h1"], "fewer than two hosts"),
            (["--hosts", "h1,-o"], "not the name of a host"),
            (["--hosts", "/nowhere"], "No such file"),
            (["--hosts", "h1,h2", "--links", "raw,ib"], "there is no link \"ib\""),
            (["--hosts", "h1,h2", "--heatmap", "/dev/null"], "not a regular file"),
            (["--hosts", "h1,h2", "--heatmap", "/nowhere/map.svg", "--launch", nothing], "cannot be written"),
            (["--hosts", "h1,h2", "--launch", nothing], "no host could be examined"),
            (["--hosts", "h1,h2", "--job"], "excludes"),
            (["--job"], "no launcher started this process"),
            (["--frames", "10"], "--frames needs --hosts or --job"),
            (["--launch", "x"], "--hosts")):
        text = check(omx, *options, status=NOT_CHECKED, environment={"PATH": os.environ["PATH"]})
        expect(f"{options}: {why}", why in text, text)


def job(omx, folder):
    """The ranks of a job of Open MPI meet in a folder. Only one of two ranks of a host takes part."""
    if not shutil.which("mpirun"):
        print("mpirun is missing: apt-get install openmpi-bin")
        sys.exit(UNABLE)
    with Lab("--hosts", "3") as lab:
        for ranks in ("3", "6"):
            done = lab.do("mpirun", "-n", ranks, "--", omx, "check", "--job", "--meet", folder, "--frames", "200", "--links", "raw",
                          "--deviations", "0", "--json")
            expect(f"{ranks} ranks are fit", done.returncode == FIT, done.stdout[-3000:] + done.stderr)
            report = json.loads(done.stdout)
            expect("all paths between three hosts", len(report["paths"]) == 6, report["paths"])
            expect("hosts have their names", [h["host"] for h in report["hosts"]] == ["h1", "h2", "h3"], report["hosts"])
            expect("nothing is left", os.listdir(folder) == [], os.listdir(folder))
        done = lab.do("exec", "h1", "--", "mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", omx, "check", "--job", "--meet", folder)
        expect("two ranks of one host measure nothing", done.returncode == NOT_CHECKED and "all ranks are on one host" in done.stderr,
               done.stdout[-3000:] + done.stderr)
        expect("nothing is left of them", os.listdir(folder) == [], os.listdir(folder))
    rank = {"PATH": os.environ["PATH"], "PMI_RANK": "1", "PMI_SIZE": "2", "PMI_JOBID": "none"}
    text = check(omx, "--job", "--meet", folder, "--limit", "1", status=NOT_CHECKED, environment=rank)
    expect("a rank without rank 0", "rank 0 is not seen" in text, text)
    # Rank 0 does not wait longer than the limit, and says which rank is missing.
    text = check(omx, "--job", "--meet", folder, "--limit", "1", status=NOT_FIT, environment={**rank, "PMI_RANK": "0"})
    expect("rank 0 alone", "rank 1 could not be examined: it does not come to the meeting" in " ".join(text.split()), text)


SSHD = """\
mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd || exit 1
exec /usr/sbin/sshd -D -e -f /dev/null -h {0}/host_key -o AuthorizedKeysFile={0}/key.pub -o StrictModes=no -o UsePAM=no -o PidFile=none
"""
# The default command is `ssh` as it is found. This one has the settings that a user has in ~/.ssh.
SSH = """\
#!/bin/sh
exec /usr/bin/ssh -F none -i {0}/key -o IdentitiesOnly=yes -o IdentityAgent=none -o GlobalKnownHostsFile=none -o UserKnownHostsFile={0}/known "$@"
"""


def ssh_files(folder):
    """Writes keys and a table of known hosts, which h4 is not in."""
    for name in ("key", "host_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
    key = " ".join(pathlib.Path(folder, "host_key.pub").read_text().split()[:2])
    pathlib.Path(folder, "known").write_text("".join(f"h{n} {key}\n" for n in range(1, 4)))
    pathlib.Path(folder, "ssh").write_text(SSH.format(folder))
    pathlib.Path(folder, "ssh").chmod(0o755)


def ssh(omx, folder):
    """The default command, `ssh`, starts agents by real servers. What ssh or the shell there says is the reason of a finding."""
    for program in ("/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"):
        if not os.path.exists(program):
            print(f"{program} is missing: apt-get install openssh-client openssh-server")
            sys.exit(UNABLE)
    if os.geteuid():
        print("sshd lets users of a lab in as root only")
        sys.exit(UNABLE)
    ssh_files(folder)
    with Lab("--hosts", "4", "--mtu", "9000") as lab, contextlib.ExitStack() as servers:
        for host in ("h2", "h3", "h4"):
            with open(f"{folder}/{host}.log", "wb") as log:
                server = subprocess.Popen([LAB, "exec", "--name", lab.name, host, "--", "unshare", "--mount", "sh", "-c", SSHD.format(folder)],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            servers.callback(server.wait)
            servers.callback(server.terminate)
            expect(f"a server listens on {host}", until(lambda host=host: ":22 " in lab.do("exec", host, "--", "ss", "-ltn").stdout),
                   pathlib.Path(folder, f"{host}.log").read_text())

        def by_ssh(*options, status):
            done = lab.do("exec", "h1", "--", "env", f"PATH={folder}:{os.environ['PATH']}", omx, "check", "--deviations", "0", "--frames", "1000",
                          "--json", *options)
            expect(f"{options}: status {status}", done.returncode == status, f"status {done.returncode}\n{done.stdout[-4000:]}{done.stderr}")
            return json.loads(done.stdout)

        report = by_ssh("--hosts", "h[2-3]", status=FIT)
        expect("all paths of two hosts by two links", len(report["paths"]) == 4, report["paths"])
        expect("facts of each host", [h["facts"]["name"] for h in report["hosts"]] == ["h2", "h3"], report["hosts"])
        report = by_ssh("--hosts", "h[1-4]", "--limit", "20", status=NOT_FIT)
        finding(report, "no answer", ["h1"], "agent ended .*Connection refused")
        finding(report, "no answer", ["h4"], "agent ended .*Host key verification failed")
        report = by_ssh("--hosts", "h[2-3]", "--program", "/nowhere/omx", status=NOT_CHECKED)
        finding(report, "no answer", ["h2"], "agent ended .*/nowhere/omx")
        expect("agents end", until(lambda: not agents_of(lab)), agents_of(lab))


def agents_of(lab):
    """Returns the processes of agents in a lab."""
    return lab.do("exec", "h1", "--", "pgrep", "-f", "check --agent").stdout.split()


def killed(omx, folder):
    """Agents end with a coordinator that is killed while they measure."""
    with Lab("--hosts", "3") as lab:
        launch = lab.launch(folder)
        command = [omx, "check", *cluster("h[1-3]", launch), "--frames", "10000000"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            expect("agents start", until(lambda: len(agents_of(lab)) >= 3), agents_of(lab))
            process.send_signal(signal.SIGKILL)
        expect("agents end", until(lambda: not agents_of(lab)), agents_of(lab))


def until(condition):
    """Waits until the condition holds. Returns whether it does at last."""
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    return condition()


def many(omx, folder):
    """Sixty-four hosts, each with eight others, find the one bad cable."""
    with Lab("--hosts", "64", "--mtu", "9000") as lab:
        bad_cable(lab)
        begin = time.monotonic()
        report = json.loads(check(omx, *cluster("h[1-64]", lab.launch(folder)), "--json", "--heatmap",
                                  f"{folder}/map.svg", "--limit", "60", status=NOT_FIT))
        print(f"64 hosts, {len(report['paths'])} paths: {time.monotonic() - begin:.0f} s")
        finding(report, "loss", ["h5"], "h5 with 8 of 8 hosts by raw frames")
        finding(report, "loss", ["h5"], "h5 with 8 of 8 hosts by UDP")
        expect("no others", len(unfit(report)) == 2, json.dumps(unfit(report), indent=1))
        expect("each host with eight others", len(report["paths"]) == 64 * 8 * 2, len(report["paths"]))


def main():
    case, omx = sys.argv[1], os.path.realpath(sys.argv[2])
    for name in [name for name in os.environ if name.startswith(("OMX_", "MX_"))]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        {"faults": faults, "pairs": pairs, "job": job, "ssh": ssh, "killed": killed, "many": many}[case](omx, folder)
    print("passed" if failures == 0 else f"{failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
