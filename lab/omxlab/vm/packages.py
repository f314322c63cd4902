# SPDX-License-Identifier: BSD-3-Clause
"""Fetches a kernel, QEMU and a few programs from Debian's archive. Unpacks them into a folder; installs nothing."""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile

from ..errors import unable

ARCHIVE = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
DEFAULT_SUITE = "bookworm"
OLDEST_QEMU = 8  # the first with igb
QEMU = "qemu-system-x86_64"
# A release with an older QEMU takes these from its backports, and their libraries from itself.
QEMU_PACKAGES = ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")
BACKPORTED = ("bookworm",)
# For the guests: a shell for the start, and modprobe.
GUEST_PACKAGES = ("busybox-static", "kmod")
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
FIRMWARE = ("usr/share/qemu", "usr/share/seabios")


class Qemu:
    """A QEMU that can be started: the program, its major version, and what it needs from us."""

    def __init__(self, program, root=None):
        self.program = program
        self.environment = dict(os.environ)
        self.options = []
        if root is not None:
            libraries = [os.path.join(root, part) for part in LIBRARIES]
            self.environment["LD_LIBRARY_PATH"] = ":".join(libraries)
            for part in FIRMWARE:
                self.options += ["-L", os.path.join(root, part)]
        self.version = self.ask_version()

    def ask_version(self):
        try:
            done = subprocess.run([self.program, "--version"], env=self.environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
        except OSError as error:
            raise unable(f"{self.program} cannot be started ({error.strerror}): remove {cache_folder()} "
                         "to have it fetched again") from None
        found = re.search(r"version (\d+)\.", done.stdout)
        if done.returncode != 0 or not found:
            raise unable(f"{self.program} does not start ({done.stdout.strip()}): remove {cache_folder()} "
                         "to have it fetched again")
        return int(found.group(1))


class Kernel:
    """An unpacked kernel with the indexes of its modules."""

    def __init__(self, root):
        self.root = root
        self.modules = modules_folder(root)
        self.release = os.listdir(self.modules)[0]
        # Later releases have it beside the modules.
        places = (os.path.join(root, "boot", f"vmlinuz-{self.release}"), os.path.join(self.modules, self.release, "vmlinuz"))
        self.image = next((place for place in places if os.path.exists(place)), None)
        if self.image is None:
            raise unable(f"there is no kernel in {root}: remove that folder, or choose another --kernel")


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.abspath(os.environ.get("LAB_VM_CACHE") or os.path.join(base, "open-mx-vm"))


@contextlib.contextmanager
def locked():
    """Keeps other labs from unpacking at the same time. A lock cannot outlive us."""
    folder = cache_folder()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def host_suite():
    """Returns the Debian release of this machine, or one whose packages do on any machine."""
    facts = {}
    with contextlib.suppress(OSError), open("/etc/os-release", encoding="utf-8") as release:
        for line in release:
            key, _, value = line.strip().partition("=")
            facts[key] = value.strip('"')
    return facts.get("VERSION_CODENAME", DEFAULT_SUITE) if facts.get("ID") == "debian" else DEFAULT_SUITE


def find_qemu():
    """Returns the installed QEMU if it is new enough, else an unpacked one."""
    installed = shutil.which(QEMU)
    if installed:
        qemu = Qemu(installed)
        if qemu.version >= OLDEST_QEMU:
            return qemu
    suite = host_suite()
    root = os.path.join(cache_folder(), f"qemu-{suite}")
    if not os.path.exists(root):
        suites = [suite] + ([f"{suite}-backports"] if suite in BACKPORTED else [])
        with locked() as folder:
            if not os.path.exists(root):
                unpack(folder, suites, qemu_packages(folder, suites), root)
    return Qemu(os.path.join(root, "usr", "bin", QEMU), root)


def qemu_packages(folder, suites):
    """Returns QEMU's packages and those libraries that this machine does not have, as NAME=VERSION."""
    wanted = [f"{package}/{suites[-1]}" for package in QEMU_PACKAGES]
    # Of one source, so its other version would have to be replaced, too. The minus sign leaves it out.
    plan = apt(folder, suites, "apt-get", "install", "-s", "--reinstall", "--no-install-recommends", *wanted,
               "qemu-user-static-")
    return [f"{name}={version}" for name, version in
            re.findall(r"^Inst (\S+) (?:\[[^]]*\] )?\((\S+) ", plan, re.MULTILINE)]


def find_kernel(suite=None):
    """Returns the kernel of a Debian release, by default of this machine's."""
    suite = suite or host_suite()
    root = os.path.join(cache_folder(), f"kernel-{suite}")
    if not os.path.exists(root):
        guest_tools()
        with locked() as folder:
            if not os.path.exists(root):
                suites = [suite.removesuffix("-backports"), suite] if suite.endswith("-backports") else [suite]
                unpack(folder, suites, kernel_packages(folder, suites), root)
    return Kernel(root)


def kernel_packages(folder, suites):
    """Returns the packages of the newest kernel. The package without a version only names it."""
    # Other suites, if any, come before the one that is meant.
    name = f"linux-image-amd64/{suites[-1]}" if len(suites) > 1 else "linux-image-amd64"
    image = needed(folder, suites, name, r"linux-image-[0-9]\S*-amd64")
    if not image:
        raise unable(f"Debian's release {suites[-1]} has no kernel for this machine: choose another --kernel")
    # Later releases have the image and the modules in packages of their own.
    return [image[0], *needed(folder, suites, image[0], r"linux-(?:binary|modules)-[0-9]\S*-amd64")]


def needed(folder, suites, package, pattern):
    """Returns the packages of such names that a package depends on."""
    shown = apt(folder, suites, "apt-cache", "show", package)
    depends = re.search(r"^Depends: (.*)$", shown, re.MULTILINE)  # the first is the version that apt would install
    return re.findall(pattern, depends.group(1)) if depends else []


def guest_tools():
    """Returns the folder with the programs for guests."""
    suite = host_suite()
    root = os.path.join(cache_folder(), f"tools-{suite}")
    if not os.path.exists(root):
        with locked() as folder:
            if not os.path.exists(root):
                unpack(folder, [suite], GUEST_PACKAGES, root)
    return root


def program(name):
    """Returns the path of a program for guests. The merged /usr of later releases changes it."""
    root = guest_tools()
    for part in ("usr/bin", "bin"):
        path = os.path.join(root, part, name)
        if os.path.exists(path):
            return path
    raise unable(f"there is no {name} in {root}: remove that folder to have it fetched again")


def unpack(folder, suites, packages, target):
    """Fetches packages and unpacks them into a new folder, which appears complete or not at all."""
    with tempfile.TemporaryDirectory(prefix="unpack-", dir=folder) as work:
        apt(folder, suites, "apt-get", "download", "-q", *packages, cwd=work)
        root = os.path.join(work, "root")
        for package in sorted(os.listdir(work)):
            if package.endswith(".deb"):
                call(["dpkg-deb", "-x", os.path.join(work, package), root], work)
        if any(package.startswith("linux-image-") for package in packages):
            index_modules(root)
        os.rename(root, target)


def index_modules(root):
    if not os.path.isdir(modules_folder(root)):
        raise unable("the packages of that kernel have no modules: choose another --kernel")
    if not os.path.exists(os.path.join(root, "lib")):
        os.symlink("usr/lib", os.path.join(root, "lib"))  # where depmod looks
    for release in os.listdir(modules_folder(root)):
        done = subprocess.run(["depmod", "-b", root, release], executable=program("kmod"), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise unable(f"depmod cannot index the modules of {release}: {done.stdout.strip()}")


def modules_folder(root):
    usr = os.path.join(root, "usr", "lib", "modules")
    return usr if os.path.isdir(usr) else os.path.join(root, "lib", "modules")


def apt(folder, suites, command, *arguments, cwd=None):
    """Runs a program of apt on lists of its own. It neither sees nor changes those of the machine."""
    need_debian()
    private = os.path.join(folder, "apt", "+".join(suites))
    options = [
        "-o", f"Dir::Etc::SourceList={private}/sources.list", "-o", "Dir::Etc::SourceParts=/dev/null",
        "-o", f"Dir::State::Lists={private}/lists", "-o", f"Dir::Cache={private}", "-o", "Debug::NoLocking=1",
        "-o", "APT::Sandbox::User=root",
    ]
    if not os.path.exists(f"{private}/updated"):
        for part in ("lists", "archives"):
            os.makedirs(f"{private}/{part}/partial", exist_ok=True)
        with open(f"{private}/sources.list", "w", encoding="ascii") as out:
            for suite in suites:
                out.write(f"deb [signed-by={KEYRING}] {ARCHIVE} {suite} main\n")
                if suite != "sid" and not suite.endswith("-backports"):
                    out.write(f"deb [signed-by={KEYRING}] {SECURITY} {suite}-security main\n")
        call(["apt-get", *options, "update", "-q", "-o", "APT::Update::Error-Mode=any"], folder)
        with open(f"{private}/updated", "w", encoding="ascii"):
            pass
    return call([command, *options, *arguments], cwd or folder)


def need_debian():
    for command, package in (("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if shutil.which(command) is None:
            raise unable(f"virtual machines are made of Debian packages, and {command} is missing: install {package}")
    if not os.path.exists(KEYRING):
        raise unable(f"there is no {KEYRING}, by which Debian packages are verified: install debian-archive-keyring")


def call(argv, cwd):
    done = subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, env=dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive"))
    if done.returncode != 0:
        last = " ".join(done.stdout.strip().split("\n")[-3:])
        raise unable(f"{argv[0]} could not get what virtual machines need ({last}): "
                     f"see that {ARCHIVE} can be reached from here")
    return done.stdout
