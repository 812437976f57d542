"""The compiler with the built library."""
import os
import re
import signal
import subprocess
import tempfile
import time

from sources import IMPORTED

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Refused(Exception):
    """Input that cannot be worked on; the message has the remedy."""


def run(command, seconds, **options):
    """Returns the status and the output of a program; a status of None says that the time was over."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        **options)
    try:
        output, _ = process.communicate(timeout=max(0.01, seconds))
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if process.returncode is None:
            # It may have started others, in a group of their own: all of them end.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Compiler:
    """The compiler with the built library, and the time that a repository may take."""

    def __init__(self, build, version, seconds, flags):
        plugins = [f"{folder}/FaultlineMacros-tool" for folder in (build, f"{ROOT}/.build/debug")]
        plugin = next(filter(os.path.exists, plugins), "none")
        modulemap = f"{build}/CFaultline.build/module.modulemap"
        if not all(map(os.path.exists, [plugin, modulemap, f"{build}/Modules/Faultline.swiftmodule"])):
            raise Refused(f"{build} has no built library. Run `swift build` first, or `make compat`, which does.")
        self.build = build
        self.library = [
            "-swift-version", version, "-I", f"{build}/Modules", "-I", f"{ROOT}/Sources/CLZ4",
            "-Xcc", f"-fmodule-map-file={modulemap}", "-Xcc", f"-I{ROOT}/Sources/CFaultline/include",
            "-load-plugin-executable", f"{plugin}#FaultlineMacros", "-suppress-warnings", "-no-color-diagnostics",
        ] + flags
        self.seconds = seconds
        self.deadline = 0
        self.known = {}

    def start_again(self):
        """Gives the repository its time."""
        self.deadline = time.monotonic() + self.seconds

    def run(self, arguments):
        """Returns the status and the output; a status of None says that the time was over."""
        return run(["swiftc"] + arguments, self.deadline - time.monotonic())

    def importing(self, module):
        with tempfile.NamedTemporaryFile("w", suffix=".swift") as file:
            file.write(f"import {module}\n")
            file.flush()
            return self.run(["-typecheck", "-parse-as-library"] + self.library + [file.name])

    def finds(self, module):
        """Whether a module is the toolchain's or the library's."""
        if module not in self.known:
            status, output = self.importing(module)
            self.known[module] = status == 0 or "no such module" not in output
        return self.known[module]

    def check(self):
        self.deadline = time.monotonic() + 300
        status, output = self.importing("Faultline")
        if status != 0:
            raise Refused(f"The library does not import. Run `swift build`, or mend the flags:\n{output}")

    def imports(self, file):
        """The modules that a file imports. Conditions and comments are the compiler's to read."""
        if not re.search(r'#if|/\*|"""', file.text):
            return set(IMPORTED.findall(file.text))
        status, output = self.run(["-frontend", "-emit-imported-modules", "-o", "-", file.copy])
        return set(output.split()) if status == 0 else set(IMPORTED.findall(file.text))
