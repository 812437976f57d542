"""A repository: its modules, and which of their files compile."""
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from causes import cause
from compiler import Compiler
from sources import FRAMEWORKS, IMPORTED, LOCATED, NEEDED, QUALIFIED, REPLACED, SKIPPED, TESTABLE, File


@dataclass
class Module:
    """Files of a repository that are compiled together."""

    name: str
    files: list
    # What compiles together, by a name: that of the module for the first product, which others import.
    products: dict = field(default_factory=dict)


@dataclass
class Repository:
    """A folder with the files of one repository."""

    name: str
    folder: str
    compiler: Compiler
    work: str
    files: list = field(default_factory=list)
    # The modules, each after those that it imports.
    modules: list = field(default_factory=list)
    # Files, each with those that declare the same names: they belong to different products.
    twins: dict = field(default_factory=dict)

    def read(self):
        for folder, folders, names in os.walk(self.folder):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
            for name in sorted(names):
                # A manifest is not part of a module.
                if not name.endswith(".swift") or re.fullmatch(r"Package(@swift-[\d.]+)?\.swift", name):
                    continue
                path = os.path.join(folder, name)
                file = File(os.path.relpath(path, self.folder))
                self.files.append(file)
                try:
                    with open(path, "rb") as source:
                        file.text = source.read().decode("utf-8-sig")
                except UnicodeDecodeError:
                    file.leave_out("the file is not UTF-8; convert it", True)
                except OSError as error:
                    file.leave_out(f"the file cannot be read: {error.strerror}", True)
        has_main = False
        for number, file in enumerate(self.files):
            file.text = QUALIFIED.sub("Faultline", REPLACED.sub(r"\1Faultline", file.text))
            name = re.sub(r"[^\w.+-]", "_", os.path.basename(file.path))[-200:]
            # The compiler refuses two files of one name in a module, and runs the statements of main.swift alone.
            if name != "main.swift" or has_main:
                name = f"{number:05}-{name}"
            has_main = has_main or name == "main.swift"
            file.copy = os.path.join(self.work, name)
            file.write()

    def compile(self):
        self.compiler.start_again()
        self.read()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for file, imports in zip(self.files, pool.map(self.compiler.imports, self.files)):
                file.imports = imports
                if not imports and file.reason is None and IMPORTED.search(file.text):
                    file.leave_out("all of it is under a condition that does not hold", False)
        modules = self.found()
        own = {module.name: module for module in modules}
        self.modules = self.sorted(modules, own)
        for module in self.modules:
            for file in module.files:
                file.missing = sorted(
                    m for m in file.imports - {module.name}
                    if not (own[m].products if m in own else self.compiler.finds(m)))
                if file.reason is None and file.missing:
                    if NEEDED.search(file.text):
                        file.leave_out(", ".join(file.missing), False)
                    else:
                        file.write()
            self.settle(module)

    def found(self):
        """The modules of the repository. Without its project they are guessed by the names of folders."""
        imports = {m for f in self.files for m in f.imports}
        wanted = {m for m in imports - FRAMEWORKS if not self.compiler.finds(m)}
        tested = {m for f in self.files for m in TESTABLE.findall(f.text)}
        taken = {m for f in self.files for m in f.imports - set(TESTABLE.findall(f.text))}
        places, packages = {}, set()
        for file in self.files:
            name = ""
            parts = os.path.dirname(file.path).split(os.sep)
            for folder in parts:
                module = re.sub(r"\W", "_", folder)
                if module in wanted or folder.endswith("Tests"):
                    name = module
                    if "Sources" in parts:
                        packages.add(module)
            places.setdefault(name, []).append(file)
        # The app that the tests import: files outside all modules are part of it.
        apps = sorted((tested & set(places)) - packages, key=lambda m: (m in taken, m))
        if "" in places and apps and apps[0] not in taken:
            places[apps[0]] += places.pop("")
        return [Module(name or re.sub(r"\W", "_", f"App_{self.name}"), files) for name, files in places.items()]

    def sorted(self, modules, own):
        """The modules, each after those that it imports."""
        order, seen = [], set()

        def visit(module):
            if module.name in seen:
                return
            seen.add(module.name)
            for name in sorted({m for f in module.files for m in f.imports} & set(own)):
                visit(own[name])
            order.append(module)

        for module in modules:
            visit(module)
        return order

    def settle(self, module):
        """Compiles a module, and leaves out files with errors until there are none.

        Files that declare a name again belong to another product: they are compiled after the first one, beside what
        the two share.
        """
        judged = [f for f in module.files if f.reason is None]
        for product in range(4):
            rivals = {r for f in judged for r in self.twins.get(f, ())} - set(judged)
            shared = [f for f in module.files if f.reason == "" and f not in rivals]
            postponed = []
            name = f"{module.name}_{product}" if product else module.name
            while judged:
                errors = self.errors(name, shared + judged, not product)
                if not errors:
                    break
                again = [f for f in judged if any("redeclaration" in e for e in errors.get(f, ()))]
                unable = [f for f in shared if f in errors]
                if again:
                    postponed += again
                    judged = [f for f in judged if f not in again]
                elif unable:
                    # They compile with the first product, and miss names of it.
                    shared = [f for f in shared if f not in unable]
                else:
                    left = {f: cause(f, errors[f], self.files) for f in judged if f in errors}
                    # First those that are not for Linux: errors of the others may come of them.
                    left = {f: c for f, c in left.items() if not c[1]} or left
                    for file, reason in left.items():
                        file.leave_out(*reason)
                    judged = [f for f in judged if f not in left]
            for file in judged:
                file.reason = ""
            if judged:
                module.products[name] = shared + judged
            judged = postponed
        for file in judged:
            others = sorted(f.path for f in self.twins.get(file, ())) or ["other files"]
            file.leave_out(f"declares names of {others[0]} again", True)

    def arguments(self, name, files):
        """What the compiler is told of the files of a product."""
        common = ["-module-name", name, "-wmo", "-I", self.work, "-enable-testing"] + self.compiler.library
        if all(os.path.basename(f.copy) != "main.swift" for f in files):
            common.append("-parse-as-library")
        return common + [f.copy for f in files]

    def errors(self, name, files, emits):
        """The messages of each file that has any."""
        by_copy = {os.path.basename(f.copy): f for f in files}
        common = self.arguments(name, files)
        status, output = self.compiler.run(["-typecheck"] + common)
        if status == 0:
            # Some rules, as those of sending between tasks, are checked after the types.
            more = ["-emit-module", "-emit-module-path", f"{self.work}/{name}.swiftmodule"] if emits else []
            status, output = self.compiler.run(
                ["-emit-sil", "-o", os.path.join(self.work, "out.sil")] + more + common)
        if status == 0:
            return {}
        if status is None:
            return {f: [f"the compiler took more than {self.compiler.seconds} s for the repository"] for f in files}
        errors = {}
        pending, last = None, None
        for line in output.splitlines():
            match = LOCATED.match(line)
            if not match:
                continue
            file = by_copy.get(os.path.basename(match[1]))
            if match[3] == "error":
                pending, last = None if file else match[4], file
                if file:
                    errors.setdefault(file, []).append(f"{match[4]}, line {match[2]}")
            elif file and pending:
                # An error in the expansion of a macro; its note has the place.
                errors.setdefault(file, []).append(f"{pending}, in a macro, line {match[2]}")
                pending, last = None, file
            elif file and last and "previously declared here" in match[4] and file is not last:
                self.twins.setdefault(last, set()).add(file)
        if errors:
            return errors
        # The compiler ended itself. It names the file that it worked on.
        named = [by_copy[n] for n in re.findall(r"[^/\s\"':]+\.swift", output.split("Stack dump", 1)[-1]) if n in by_copy]
        message = next((l.strip() for l in output.splitlines() if "error:" in l), "the compiler ended with a failure")
        return {f: [message.split("error: ", 1)[-1]] for f in (named[-1:] or files)}
