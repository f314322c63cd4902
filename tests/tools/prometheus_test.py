#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""prometheus_test.py OMX BUILD_DIR: tests that monitoring systems understand the counters, and the dashboard the monitoring system.

Two hosts of a lab exchange messages, also inside a host. A small server on h1 answers with OpenMetrics text. On h2 the command
of the installed systemd service writes a file, as root with the service's rights only, and node_exporter serves it. Prometheus
on h1 reads both. Every query of the dashboard must answer for both hosts. Without Prometheus the test is skipped. Without
node_exporter a small server stands in for it on h2, and the test says so.
"""
import http.server
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

sys.dont_write_bytecode = True

SKIP = 77
LAB = os.environ.get("LAB", "")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DASHBOARD = ROOT / "tools" / "watch" / "grafana.json"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
PORT = 9100  # in network namespaces of the lab
PATIENCE_S = 120
HOSTS = ("h1", "h2")
# Queries of what certainly happens in this test.
MOVING = ("sent_messages_total", "sent_bytes_total", "sent_inside_host_bytes_total", "sent_by_udp_bulk_path_bytes_total",
          "link_sent_frames_total")

processes = []


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


def on(host, *command):
    return [LAB, "exec", host, "--", *map(str, command)]


def start(host, *command, output=subprocess.DEVNULL):
    processes.append(subprocess.Popen(on(host, *command), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT))
    return processes[-1]


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)


def serve(kind, *command):
    """Answers each request with what the command prints. Runs in a host of the lab."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = subprocess.run(command, capture_output=True, check=True).stdout
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    http.server.HTTPServer(("", PORT), Handler).serve_forever()


def unit_command(build, folder):
    """The command of the installed service with its rights, writing to `folder`."""
    installed = run("cmake", "--install", build, "--component", "tools", env={**os.environ, "DESTDIR": str(folder)})
    assert installed.returncode == 0, installed.stderr
    unit, = folder.rglob("open-mx-metrics.service")
    text = unit.read_text()
    program, *options = re.search(r"^ExecStart=(.*)$", text, re.M)[1].split()
    assert (folder / program[1:]).exists(), f"{program} is not installed"
    wanted = re.search(r"^ConditionPathIsDirectory=(.*)$", text, re.M)[1]
    assert options[-1] == f"{wanted}/open-mx.prom", f"the service writes to {options[-1]}"
    rights = re.search(r"^CapabilityBoundingSet=(.*)$", text, re.M)[1].split()
    bounds = ",".join(f"+{right.removeprefix('CAP_').lower()}" for right in rights)
    return ["setpriv", f"--bounding-set=-all,{bounds}"], options[:-1]


def wait_for(what, ready):
    end = time.monotonic() + PATIENCE_S
    while not ready():
        assert all(p.poll() is None for p in processes), f"{what}: a process ended early: {[p.args for p in processes if p.poll() is not None]}"
        assert time.monotonic() < end, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.2)


def query(expression):
    """The answers of Prometheus: the value by host."""
    done = run(*on("h1", "promtool", "query", "instant", "-o", "json", "http://127.0.0.1:9090", expression))
    assert done.returncode == 0, f"{expression}: {done.stderr}{done.stdout}"
    return [(row["metric"].get("host"), float(row["value"][1])) for row in json.loads(done.stdout)]


def expressions():
    dashboard = json.loads(DASHBOARD.read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "30s").replace("$host", ".*")
    variable = next(v for v in dashboard["templating"]["list"] if v["name"] == "host")
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
    yield "variable host", f"count by ({label}) ({metric})"


def formats_check(omx):
    """Both texts are valid, as far as there are programs here that can say so."""
    older = run(*on("h2", omx, "counters", "--prometheus")).stdout
    checked = run("promtool", "check", "metrics", input=older)
    assert checked.returncode == 0, checked.stderr + checked.stdout
    try:
        sys.path.append("/usr/lib/python3/dist-packages")
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("OpenMetrics text is not checked by its own parser: apt-get install python3-prometheus-client")
        return
    families = {f.name: f for f in text_string_to_metric_families(run(*on("h2", omx, "counters", "--openmetrics")).stdout)}
    assert families["openmx_sent_bytes"].unit == "bytes" and families["openmx_sent_bytes"].type == "counter", families
    assert families["openmx_known_peers"].type == "gauge"
    print(f"OpenMetrics text has {len(families)} valid families; promtool finds no fault with the older text")


def traffic_start(omx):
    """A server on each host, of another user on h2 where that user may run the program. Messages go from h1 to both."""
    other = ("setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=+net_raw", "--ambient-caps=+net_raw")
    if run(*on("h2", *other, omx, "--version")).returncode:
        other = ()
        print("no other user here may run omx: all endpoints belong to root")
    start("h2", *other, omx, "perf")
    start("h1", omx, "perf")
    for host in HOSTS:
        wait_for("servers", lambda host=host: '"pid"' in run(*on(host, omx, "info", "--json")).stdout)
    for peer in HOSTS:
        start("h1", omx, "perf", peer, "--sizes", "100000", "--min-time", "300", "--max-time", "600")


def prometheus_start(work):
    (work / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [{"job_name": "open-mx", "static_configs": [{"targets": [f"{host}:{PORT}" for host in HOSTS]}]}]}))
    checked = run("promtool", "check", "config", str(work / "prometheus.yml"))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with open(work / "prometheus.log", "wb") as log:
        start("h1", "prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data",
              "--web.listen-address=127.0.0.1:9090", output=log)


def scrapes_check(work):
    try:
        wait_for("Prometheus reads both hosts", lambda: run(*on("h1", "promtool", "query", "instant", "http://127.0.0.1:9090",
                                                                "count(openmx_open_endpoints) == 2")).stdout.strip())
    except AssertionError as error:
        raise AssertionError(f"{error}\n{(work / 'prometheus.log').read_text()[-2000:]}") from None


def dashboard_check():
    for title, expression in expressions():
        def answered(expression=expression):
            rows = query(expression)
            moves = not any(name in expression for name in MOVING) or any(value > 0 for _, value in rows)
            return {host for host, value in rows if value == value} == set(HOSTS) and moves
        wait_for(f"{title}: {expression}", answered)
        print(f"ok    {title}: {expression[:100]}")


def inside(omx, build):
    exporter = shutil.which("prometheus-node-exporter") or shutil.which("node_exporter")
    with tempfile.TemporaryDirectory(prefix="omx-prometheus-") as name:
        work = pathlib.Path(name)
        os.chmod(work, 0o755)
        rights, options = unit_command(build, work / "installed")
        traffic_start(omx)
        formats_check(omx)
        (work / "textfile").mkdir()
        file = work / "textfile" / "open-mx.prom"
        start("h1", sys.executable, __file__, "--serve", OPENMETRICS, omx, "counters", "--openmetrics")
        if exporter:
            start("h2", exporter, "--collector.disable-defaults", "--collector.textfile",
                  f"--collector.textfile.directory={file.parent}", f"--web.listen-address=:{PORT}")
        else:
            print("node_exporter is missing, so a small server stands in for it: apt-get install prometheus-node-exporter")
            start("h2", sys.executable, __file__, "--serve", PLAIN, "cat", file)
        write = on("h2", *rights, omx, *options, file)
        first = run(*write)
        assert first.returncode == 0 and not first.stderr, f"{write}: {first.stderr}"
        assert 'openmx_unreadable_endpoints{host="h2"} 0\n' in file.read_text(), "an endpoint of another user is not read"
        assert [f.name for f in file.parent.iterdir()] == ["open-mx.prom"], "another file is left"
        start("h2", "sh", "-c", 'while sleep 0.5; do "$@" || exit 1; done', "sh", *rights, omx, *options, file)
        prometheus_start(work)
        scrapes_check(work)
        dashboard_check()


def main():
    if sys.argv[1] == "--serve":
        return serve(*sys.argv[2:])
    omx, build = map(os.path.realpath, sys.argv[1:3])
    for program in ("prometheus", "promtool", "setpriv", "cmake"):
        if not shutil.which(program):
            skip(f"{program} is missing: apt-get install {'prometheus' if program.startswith('prom') else program}")
    for variable in [v for v in os.environ if v.startswith(("OMX_", "MX_"))]:
        del os.environ[variable]
    if not LAB:
        os.execv(ROOT / "lab" / "lab", ["lab", "run", "--hosts", "2", "--mtu", "9000", "--", sys.executable, __file__, omx, build])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        inside(omx, build)
    except AssertionError as error:
        print(f"FAILED: {error}")
        return 1
    finally:
        for process in processes:
            process.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
