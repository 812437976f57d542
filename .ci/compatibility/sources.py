"""The Swift files of a repository, and what their texts say."""
import os
import re
from dataclasses import dataclass, field

# Folders that tools make: copies of other repositories and products.
SKIPPED = {"Carthage", "DerivedData", "Pods", "SourcePackages"}
IMPORT = (
    r"(?:^|(?<=;))[ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?"
)
IMPORTED = re.compile(IMPORT + r"([A-Za-z_]\w*)", re.MULTILINE)
TESTABLE = re.compile(r"^\s*@testable\s+import\s+(\w+)", re.MULTILINE)
REPLACED = re.compile(rf"({IMPORT}|\bcanImport\()SwiftData\b", re.MULTILINE)
QUALIFIED = re.compile(r"\bSwiftData(?=\.[A-Z])")
LOCATED = re.compile(r"^(.+?\.swift):(\d+):\d+: (error|note): (.*)$")
# A file that has these needs a module which is missing: it is not tried without, which would take long.
NEEDED = re.compile(
    r":\s*(?:some\s+)?(?:View|App|Scene|ViewModifier)\b|#Preview|@State\b|@Environment\b|@Query\b|@Binding\b"
    r"|\b(?:Color|Logger|(?:UI|NS)(?:Image|Color|View|Application)|UIDevice|XCUIApplication|CGContext|Binding|Reducer)\b")
# Frameworks of Apple are no modules of a repository, although folders may have their names.
FRAMEWORKS = {"SwiftUI", "UIKit", "AppKit", "CoreData", "Combine", "Charts", "WidgetKit", "AppIntents", "CloudKit", "MapKit"}


@dataclass(eq=False)
class File:
    """A Swift file of a repository."""

    path: str
    text: str = ""
    copy: str = ""
    imports: set = field(default_factory=set)
    # Modules whose import is taken out, since the compiler does not find them: the file may do without.
    missing: list = field(default_factory=list)
    # None as long as it is not known, then "" for a file that compiles, or the reason.
    reason: str | None = None
    is_for_linux: bool = True

    def write(self):
        """Writes the copy that is compiled."""
        text = self.text
        for module in self.missing:
            # Frameworks of Apple bring these two.
            text = re.sub(
                rf"{IMPORT}{module}\b[.\w]*", "import Foundation; import Observation", text, flags=re.MULTILINE)
        with open(self.copy, "w", newline="") as copy:
            copy.write(text)

    @property
    def state(self):
        if self.reason:
            return ("error: " if self.is_for_linux else "not for Linux: ") + self.reason
        return f"compiled, without the import of {', '.join(self.missing)}" if self.missing else "compiled"

    def line(self, message):
        """The line of the source that a message is about, and the next one."""
        number = re.search(r", line (\d+)$", message)
        lines = re.split(r"\r\n|\n|\r", self.text)
        return " ".join(lines[int(number[1]) - 1:][:2]) if number else ""

    def leave_out(self, reason, is_for_linux):
        self.reason = reason
        self.is_for_linux = is_for_linux
