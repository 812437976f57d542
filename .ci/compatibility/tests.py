"""Tests of others: what their files name, and how each ends."""
import json
import os
import re
import tempfile
import urllib.parse
from dataclasses import dataclass

from compiler import run
from sources import IMPORTED

LIBRARIES = {"Testing", "XCTest"}
STOPPED = re.compile(r"^(.+?\.swift):(\d+): ((?:Fatal|Precondition|Assertion)\b.*)$", re.MULTILINE)
FAILED = re.compile(r"^(.+?):(\d+): error: \S+ : (.*)$", re.MULTILINE)
SKIPPED = re.compile(r"^.+: \S+ : (Test skipped\b.*)$", re.MULTILINE)


@dataclass
class Test:
    """A test of a repository, and its outcome."""

    path: str
    name: str
    # The name that a runner takes: of Swift Testing an identifier, of XCTest the method with its class.
    call: str = ""
    is_xctest: bool = False
    # "passed", "failed" or "not run".
    outcome: str = "not run"
    reason: str = ""

    @property
    def state(self):
        reason = " ".join(self.reason.split())
        return f"{self.outcome}: {reason}" if reason else self.outcome

    def run(self, program, arguments, seconds, paths):
        """Runs the test in a process of its own, so that a crash hides no other test, in a home of its own."""
        with tempfile.TemporaryDirectory(prefix="faultline-compat-home-") as home:
            folders = {"HOME": home, "CFFIXED_USER_HOME": home, "TMPDIR": home, "SWIFT_BACKTRACE": "enable=no"}
            environment = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")} | folders
            events = os.path.join(home, "events")
            if not self.is_xctest:
                arguments = arguments + ["--event-stream-output-path", events, "--event-stream-version", "0"]
            status, output = run([program] + arguments, seconds, cwd=home, env=environment)
            self.outcome, self.reason = "failed", f"took more than {seconds} s"
            if status is not None:
                self.read_xctest(output, paths) if self.is_xctest else self.read_events(lines(events), paths)
                if self.outcome == "failed" and not self.reason:
                    self.read_end(status, output, paths)

    def place(self, file, line, paths):
        """Where a message is about: the path only if it is another file than that of the test."""
        path = paths.get(os.path.basename(file), os.path.basename(file))
        return f", line {line}" if path == self.path else f", line {line} of {path}"

    def read_xctest(self, output, paths):
        self.outcome, self.reason = "failed", ""
        if match := FAILED.search(output):
            place = "" if match[1] == "<EXPR>" else self.place(match[1], match[2], paths)
            self.reason = match[3].removesuffix(" - ") + place
        elif match := SKIPPED.search(output):
            self.outcome, self.reason = "not run", match[1]
        elif re.search(r"^Test Case '.*' passed ", output, re.MULTILINE):
            self.outcome = "passed"

    def read_events(self, events, paths):
        self.outcome, self.reason = "failed", ""
        has_ended = False
        for event in events:
            payload = event["payload"]
            kind = payload["kind"]
            if kind == "issueRecorded" and not payload["issue"]["isKnown"] and not self.reason:
                location = payload["issue"].get("sourceLocation") or {}
                place = self.place(location["fileID"], location["line"], paths) if location else ""
                self.reason = ": ".join(m["text"] for m in payload["messages"]) + place
            elif kind == "testSkipped" and payload["testID"] == self.call:
                self.outcome = "not run"
                self.reason = ": ".join(m["text"] for m in payload["messages"])
            elif kind == "testEnded" and payload["testID"] == self.call:
                has_ended = True
        if has_ended and not self.reason:
            self.outcome = "passed"

    def read_end(self, status, output, paths):
        """The reason of a process that has not said how the test ended."""
        if match := STOPPED.search(output):
            self.reason = f"crashed: {match[3]}{self.place(match[1], match[2], paths)}"
        elif status < 0:
            self.reason = f"crashed: signal {-status}"
        else:
            self.reason = f"the process ended with status {status} before the test did"


def lines(path):
    """The JSON lines of a file. The last one may be torn by a crash."""
    read = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                read.append(json.loads(line))
    except (FileNotFoundError, json.JSONDecodeError):
        pass
    return read


def swift_tests(events, paths):
    """The tests that a list of Swift Testing has."""
    for event in events:
        payload = event["payload"]
        if payload["kind"] == "function":
            file = os.path.basename(payload["sourceLocation"]["fileID"])
            # The identifier begins with the module and ends with the file.
            name = payload["id"].rsplit("/", 1)[0].split(".", 1)[1]
            yield Test(paths.get(file, file), name, payload["id"])


def xctests(graph, paths):
    """The test methods of classes of XCTest in the symbol graphs of modules, with those of classes above them.

    Yields each with the module of its class.
    """
    symbols = {s["identifier"]["precise"]: s for s in graph["symbols"]}
    by_path = {(s["module"], *s["pathComponents"]): s for s in symbols.values()}
    above, methods = {}, {}
    for relationship in graph["relationships"]:
        if relationship["kind"] == "inheritsFrom":
            above[relationship["source"]] = relationship["target"]
        elif relationship["kind"] == "memberOf":
            methods.setdefault(relationship["target"], []).append(symbols.get(relationship["source"]))
    for identifier, symbol in symbols.items():
        chain = [identifier]
        while chain[-1] in above:
            chain.append(above[chain[-1]])
        if symbol["kind"]["identifier"] != "swift.class" or not chain[-1].endswith("XCTest0A4CaseC"):
            continue
        owners = symbol["pathComponents"]
        levels = {by_path[(symbol["module"], *owners[:n])]["accessLevel"] for n in range(1, len(owners) + 1)}
        seen = set()
        for method in (m for owner in chain for m in methods.get(owner, ()) if m):
            words = [f["spelling"] for f in method["declarationFragments"]]
            name = method["pathComponents"][-1]
            if (method["kind"]["identifier"] != "swift.method" or not re.fullmatch(r"test\w*\(\)", name) or name in seen
                    or method["accessLevel"] in ("private", "fileprivate") or "->" in "".join(words)):
                continue
            seen.add(name)
            file = os.path.basename(urllib.parse.unquote(symbol["location"]["uri"]))
            reference = f"{'.'.join(owners)}.{name[:-2]}"
            call = f'("{name[:-2]}", {f"asyncTest({reference})" if "async" in words else reference})'
            test = Test(paths.get(file, file), f"{'/'.join(owners)}/{name}", call, True)
            if levels & {"private", "fileprivate"}:
                test.reason = "its class is private"
            yield symbol["module"], test


def named(file):
    """The tests of a file that is not compiled, as far as its text shows them."""
    imports = set(IMPORTED.findall(file.text))
    patterns = []
    if "XCTest" in imports:
        patterns.append(r"^[ \t]*(?:[@\w()]+[ \t]+)*?func[ \t]+(test\w*\(\))")
    if "Testing" in imports:
        patterns.append(r"@Test\b(?:(?!@Test\b)[\s\S]){0,2000}?\bfunc[ \t]+(`[^`\n]+`|\w+)[ \t]*(?=\()")
    owners = [(m.start(), m[1]) for m in re.finditer(
        r"^[ \t]*(?:[@\w()]+[ \t]+)*(?:class|struct|enum|actor|extension)[ \t]+(\w+)[^\n]*\{", file.text, re.MULTILINE)]
    for pattern in patterns:
        for match in re.finditer(pattern, file.text, re.MULTILINE):
            owner = [name for start, name in owners if start < match.start()][-1:]
            yield Test(file.path, "/".join(owner + [match[1]]))
