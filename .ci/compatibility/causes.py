"""The reasons why files do not compile."""
import re

# Messages that a missing module explains.
LACK = r"cannot find|no macro named|no type named|unknown attribute|cannot infer|.* has no member|.* does not conform"
# What modules of Linux lack, by a message with its line of source, and where Apple's platforms have it.
ELSEWHERE = {
    r"'(?:ObservableObject|Published|AnyCancellable|PassthroughSubject|CurrentValueSubject|AnyPublisher)'": "Combine",
    r"'(?:URLSession\w*|URLRequest|HTTPURLResponse|URLResponse|URLCache)'": "URLSession, which is in FoundationNetworking",
    r"'XMLParser(?:Delegate)?'": "XMLParser, which is in FoundationXML",
    r"'XCUI|^property does not override .*runsForEach": "XCUIApplication of Apple's XCTest",
    r"'(?:autoreleasepool|NSUbiquitousKeyValueStore|NSFileCoordinator|LocalizedStringResource|CGVector|NSDataDetector|containerURL|sysctlbyname"
    r"|applicationSupportDirectory|applyingTransform)'": "Apple's Foundation",
    r"Not supported in swift-corelibs|^Objective-C interoperability": "Apple's Foundation",
    r"^unknown attribute 'Observable'": "Observation, which Apple's Foundation imports",
    r"^(?:extraneous argument|extra argument|no exact matches).*(?:\blocalized:|'comment')": "String(localized:) of Apple's Foundation",
    r"\.(?:remove\(atOffsets|move\(fromOffsets):": "remove(atOffsets:) and move(fromOffsets:) of SwiftUI",
    r"'Bundle' has no member 'module'": "the resources of a package",
}


def subject(message):
    return "'" + re.findall(r"'([^']+)'", message)[-1] + "'"


def declares(text, message):
    """Whether a text declares what a message misses."""
    def has(words, name, indent="[ \\t]*"):
        return re.search(rf"^{indent}(?:[@\w()]+\s+)*(?:{words})\s+`?{re.escape(name)}\b", text, re.MULTILINE)

    types = "class|struct|enum|actor|protocol|typealias|macro"
    if match := re.match(r"cannot find (?:type )?'(\w+)'|no macro named '(\w+)'", message):
        name = match[1] or match[2]
        return has(types, name) or has("func|let|var", name, " {0,4}")
    if match := re.search(r"'(?:any |some )?([\w.<>?]+?)(?:\.Type)?' has no (?:dynamic )?member '(\w+)", message):
        base = re.sub(r"[<?].*", "", match[1]).split(".")[-1]
        return has(f"{types}|extension", base) and has(f"func|let|var|case|{types}", match[2])
    if match := re.search(r"'(\w+)'[^']* conforms? to (?:protocol |expected type )?'(\w+)'", message):
        return re.search(rf"\b(?:extension|class|struct|enum|actor) {match[1]}\b[^{{\n]*\b{match[2]}\b", text)
    return None


def cause(file, messages, files):
    """The reason why one of the files of a repository is left out, and whether it is for Linux nevertheless."""
    for message in messages:
        for other in files:
            if other is not file and other.reason and not other.is_for_linux and declares(other.text, message):
                return f"needs {subject(message)} of {other.path}, which is not for Linux", False
    for message in messages:
        for pattern, place in ELSEWHERE.items():
            if re.search(pattern, f"{message} {file.line(message)}"):
                return f"{place}; {message}", False
        if file.missing and re.match(LACK, message):
            return f"{', '.join(file.missing)}, without which: {message}", False
    for other in files:
        if other is not file and other.reason and other.is_for_linux and declares(other.text, messages[0]):
            return f"needs {subject(messages[0])} of {other.path}, which does not compile", True
    return messages[0], True

