"""Programs that run the tests of a repository."""
import glob
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor

import tests
from compiler import Refused, run
from sources import LOCATED

# XCTest is told one test by its number; everything else is for Swift Testing, which finds its tests itself.
RUNNER = """
import Testing
import XCTest
%s

@main struct Runner {
    @_silgen_name("$ss13_runAsyncMainyyyyYaKcF")
    private static func run(_ main: @Sendable @escaping () async throws -> ())

    static func main() {
        let arguments = [CommandLine.arguments[0]]
        switch CommandLine.arguments.dropFirst().first {
%s
        default: run { await Testing.__swiftPMEntryPoint() as Never }
        }
    }
}
"""


class Library:
    """The objects of the built library as one shared library, which the programs have in common."""

    def __init__(self, compiler, folder):
        def made(module, kind):
            return glob.glob(f"{glob.escape(compiler.build)}/{module}.build/**/*.{kind}", recursive=True)

        # What the compiler has read for a module says which modules it needs.
        modules, rest = {"CFaultline"}, ["Faultline"]
        while rest:
            module = rest.pop()
            if module in modules:
                continue
            modules.add(module)
            for path in made(module, "d"):
                with open(path) as dependencies:
                    rest += re.findall(r"/Modules/(\w+)\.swiftmodule", dependencies.read())
        with open(f"{folder}/objects", "w") as file:
            for module in sorted(modules):
                # Objects of sources that are gone stay in the folder.
                sources = self.sources(f"{compiler.build}/{module}.build/sources")
                file.writelines(
                    f'"{o}"\n' for o in made(module, "o")
                    if not o.endswith(".swiftmodule.o") and (not sources or os.path.basename(o)[:-2] in sources))
        compiler.start_again()
        status, output = compiler.run(
            ["-emit-library", "-use-ld=lld", "-o", f"{folder}/libFaultline.so", f"@{folder}/objects"])
        if status != 0:
            raise Refused(f"The library does not link. Run `swift build --target Faultline`:\n{output}")
        self.linked = ["-use-ld=lld", "-L", folder, "-lFaultline", "-Xlinker", "-rpath", "-Xlinker", folder]

    @staticmethod
    def sources(path):
        """The names of the sources that a module was built of; none for a module of C."""
        if not os.path.exists(path):
            return set()
        with open(path) as file:
            return {os.path.basename(line.strip().strip("'\"")) for line in file}


class Programs:
    """One program for each product of a repository that has tests."""

    def __init__(self, repository, library, seconds):
        self.repository = repository
        self.compiler = repository.compiler
        self.library = library
        self.seconds = seconds
        self.paths = {os.path.basename(f.copy): f.path for f in repository.files}
        # Of each compiled product its object with its symbols, or a message.
        self.objects = {}

    def run(self):
        """The tests of the repository, each with its outcome."""
        self.compiler.start_again()
        built = {}
        ended = []
        for module in self.repository.modules:
            for name, files in module.products.items():
                tested = [f for f in files if f.imports & tests.LIBRARIES and f not in built]
                if tested:
                    found = self.program(module, name, files)
                    built |= dict.fromkeys(tested)
                    paths = {f.path for f in tested}
                    ended += [t for t in found if t.path in paths]
        for file in self.repository.files:
            if file not in built:
                for test in tests.named(file):
                    test.reason = f"its file: {file.state}"
                    ended.append(test)
        return ended

    def program(self, module, name, files):
        """Builds the program of a product, and runs its tests."""
        needed = {o.name: o.products[o.name] for o in self.needed(module) if o.name in o.products} | {name: files}
        for product, sources in needed.items():
            if product not in self.objects:
                self.objects[product] = self.compiled(product, sources)
        failures = [f"{p} does not compile: {o}" for p, (o, graph) in self.objects.items() if p in needed and not graph]
        found, message = [], failures[0] if failures else ""
        if not message:
            graphs = [self.objects[p][1] for p in needed]
            graph = {k: [e for g in graphs for e in g[k]] for k in ("symbols", "relationships")}
            found = [t for m, t in tests.xctests(graph, self.paths) if m == name]
            program, message = self.linked(name, [self.objects[p][0] for p in needed], found)
        if message:
            found = [t for f in files for t in tests.named(f)]
            for test in found:
                test.reason = message
            return found
        events = os.path.join(self.repository.work, "list")
        run([program, "--list-tests", "--event-stream-output-path", events, "--event-stream-version", "0"], self.seconds)
        found += tests.swift_tests(tests.lines(events), self.paths)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda pair: self.ended(program, *pair), enumerate(found)))
        return found

    def ended(self, program, number, test):
        if not test.reason:
            arguments = [str(number)] if test.is_xctest else ["--filter", f"^{re.escape(test.call)}$"]
            test.run(program, arguments, self.seconds, self.paths)

    def needed(self, module):
        """The modules that a module imports, and those that they do."""
        own = {m.name: m for m in self.repository.modules}
        needed, rest = {}, [module]
        while rest:
            for name in {i for files in rest.pop().products.values() for f in files for i in f.imports} & set(own):
                if name != module.name and name not in needed:
                    needed[name] = own[name]
                    rest.append(own[name])
        return needed.values()

    def compiled(self, name, files):
        """The object of a product and its symbols, or the first message and none."""
        work = self.repository.work
        symbols = os.path.join(work, f"{name}-symbols")
        os.makedirs(symbols)
        path = os.path.join(work, f"{name}.o")
        frontend = [
            "-entry-point-function-name", f"{name}_main", "-emit-symbol-graph", "-emit-symbol-graph-dir", symbols,
            "-symbol-graph-minimum-access-level", "private"]
        status, output = self.compiler.run(
            ["-c", "-o", path, "-emit-module", "-emit-module-path", f"{work}/{name}.swiftmodule"]
            + [a for f in frontend for a in ("-Xfrontend", f)] + self.repository.arguments(name, files))
        if status is None:
            return f"the compiler took more than {self.compiler.seconds} s for the repository", None
        if status != 0:
            return next((l.strip() for l in output.splitlines() if "error:" in l), "the compiler ended with a failure"), None
        graph = {"symbols": [], "relationships": []}
        for part in glob.glob(f"{glob.escape(symbols)}/*.symbols.json"):
            with open(part) as file:
                read = json.load(file)
            graph["symbols"] += [s | {"module": name} for s in read["symbols"] if "location" in s]
            graph["relationships"] += read["relationships"]
        return path, graph

    def linked(self, name, objects, found):
        """The program with a runner, or a message. A test that the runner cannot name gets a reason."""
        work = self.repository.work
        source, program = os.path.join(work, "runner.swift"), os.path.join(work, f"{name}-tests")
        first = (RUNNER.split("%s")[0] + RUNNER.split("%s")[1]).count("\n") + 1
        while True:
            cases = [
                "" if test.reason else f'        case "{number}": XCTMain([testCase([{test.call}])], arguments: arguments)'
                for number, test in enumerate(found)]
            with open(source, "w") as file:
                file.write(RUNNER % (f"@testable import {name}", "\n".join(cases)))
            status, output = self.compiler.run(
                self.compiler.library + ["-parse-as-library", "-module-name", "FaultlineCompat", "-swift-version", "5"]
                + ["-I", work, "-o", program, source] + objects + self.library.linked)
            if status == 0:
                return program, ""
            match = next(filter(None, map(LOCATED.match, output.splitlines())), None)
            place = int(match[2]) - first if match and match[1] == source else -1
            if not 0 <= place < len(found) or found[place].reason:
                return None, f"the tests do not link: {output.strip().splitlines()[-1] if output.strip() else 'no time is left'}"
            found[place].reason = f"it cannot be called: {match[4]}"
