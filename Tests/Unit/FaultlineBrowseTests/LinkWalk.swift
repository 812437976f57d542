import FaultlineBrowse
import Foundation
import FoundationXML

/// Visits each page that the first one leads to.
final class LinkWalk: NSObject, XMLParserDelegate {
    private let site: BrowseSite
    private let base: String
    private var waiting = ["/"]
    private var met: Set<String> = ["/"]
    /// The targets that were visited.
    private(set) var visited: [String] = []
    /// The failures: answers that are no pages, addresses outside of the site, elements that must not be there.
    private(set) var faults: [String] = []
    private var current = ""

    init(_ site: BrowseSite, base: String) { (self.site, self.base) = (site, base) }

    /// Visits up to a number of pages.
    func run(limit: Int) {
        while let target = waiting.popLast(), visited.count < limit {
            visited.append(target)
            current = target
            guard let request = PageRequest(target: target) else {
                faults.append("\(target) is no request")
                continue
            }
            let answer = site.answer(request)
            guard answer.status == 200 else {
                faults.append("\(target): \(answer.status)")
                continue
            }
            guard answer.headers.contains(where: { $0.name == "content-type" && $0.value.hasPrefix("text/html") })
            else { continue }
            // XML has no such declaration.
            let text = answer.text.replacing("<!DOCTYPE html>", with: "")
            let parser = XMLParser(data: Data(text.utf8))
            parser.delegate = self
            if !parser.parse() { faults.append("\(target): line \(parser.lineNumber) is not well-formed") }
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        if name == "script" || attributes.keys.contains(where: { $0.hasPrefix("on") }) {
            faults.append("\(current) has a script")
        }
        for address in ["href", "src", "action"].compactMap({ attributes[$0] }) {
            if address.hasPrefix("#") || address == "data:," { continue }
            guard address.hasPrefix(base) else {
                faults.append("\(current) leads to \(address)")
                continue
            }
            let target = "/" + address.dropFirst(base.count)
            if met.insert(target).inserted { waiting.append(target) }
        }
    }
}
