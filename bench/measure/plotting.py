# SPDX-License-Identifier: BSD-3-Clause
"""Draws the plots of the documents that benchmarks write."""
import shutil
import subprocess

from bench_run import UNABLE, MeasurementFailed


def gnuplot_find():
    program = shutil.which("gnuplot")
    if program is None:
        raise MeasurementFailed("gnuplot is missing, which draws the plots; as root: apt-get install gnuplot-nox", UNABLE)
    return program


def gnuplot_draw(program, script, what):
    """Runs gnuplot. `script` is a list of lines, which also name the output file."""
    ended = subprocess.run([program], input="\n".join(script) + "\n", capture_output=True, text=True, check=False)
    if ended.returncode:
        raise MeasurementFailed(f"gnuplot could not draw {what}: {ended.stderr.strip()}")
