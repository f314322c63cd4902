# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe. Make a repository of it, and name your clone of Open-MX:

    spack repo create ./my-spack my && mkdir -p my-spack/packages/open-mx && cp packaging/spack/package.py my-spack/packages/open-mx
    spack repo add ./my-spack
    spack install open-mx                  # after `git` below has become the address or the folder of your clone
    spack dev-build open-mx@main           # or: in the folder of a clone, which is built as it is
"""
from spack.package import *


class OpenMx(CMakePackage):
    """Message passing for clusters on ordinary Ethernet, in user space, with the interface, the binary interface and the wire
    format of Myrinet Express (MX), and a libfabric provider."""

    homepage = "https://example.org/open-mx"  # no public address is known yet
    git = "https://example.org/open-mx.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("libfabric", default=True, description="Build the libfabric provider, for Open MPI and MPICH")
    variant("bpf", default=False, description="Build omx steer, which needs clang, libbpf and bpftool")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("cli11", type="build")
    depends_on("fmt@8:")
    depends_on("tl-expected", type="build")
    depends_on("hwloc@2:")
    depends_on("libfabric@1.11:", when="+libfabric")
    depends_on("llvm +clang", type="build", when="+bpf")
    depends_on("bpftool", type="build", when="+bpf")
    depends_on("libbpf@0.8:", when="+bpf")

    generator("ninja")
    conflicts("platform=darwin", msg="Open-MX needs Linux")
    conflicts("platform=windows", msg="Open-MX needs Linux")

    def cmake_args(self):
        return [
            self.define("OMX_TESTS", False),
            self.define("OMX_BENCH", False),
            self.define("OMX_CCACHE", False),
        ]

    def setup_run_environment(self, env):
        # libfabric searches only its own folder otherwise.
        if self.spec.satisfies("+libfabric"):
            env.prepend_path("FI_PROVIDER_PATH", join_path(self.prefix.lib, "libfabric"))
