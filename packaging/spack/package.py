# The recipe for Spack: a repository of one's own with this file as packages/wireup/package.py; `spack install wireup`
# takes the archive of sources that `make dist` makes, from a mirror or from the current directory.
from spack.package import *


class Wireup(MesonPackage):
    """Launcher and process manager for parallel programs: starts MPI and OpenSHMEM programs, and serves them PMI-1, PMI-2
    and PMIx."""

    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("meson@0.61:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2:")
    depends_on("libevent")
    depends_on("libsodium")
    depends_on("munge")
    depends_on("zlib-api")

    def url_for_version(self, version):
        return f"file://wireup-{version}.tar.gz"

    def meson_args(self):
        return ["-Dtests=false"]
