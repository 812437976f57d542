internal import Foundation
internal import FoundationXML

/// Reads an XML file into a tree of elements.
///
/// Bounds: the bytes of the file, the number of elements, and their depth. A file that declares entities is refused
/// before it is parsed, because entities can expand without end. Documents outside the file are never loaded.
final class MarkupReader: NSObject, XMLParserDelegate {
    private static let elementCountMax = 200_000
    private static let depthMax = 64

    private let path: String
    /// The elements that have begun and not ended, outermost first.
    private var open: [MarkupElement] = []
    private var root: MarkupElement?
    private var elementCount = 0
    private var failure: ModelFileError?

    private init(path: String) { self.path = path }

    /// The outermost element of a file.
    static func root(of contents: Data, path: String) throws(ModelFileError) -> MarkupElement {
        guard contents.count <= ModelVersion.byteCountMax else {
            throw ModelFileError(
                .tooLarge, path, "The file has \(contents.count) bytes; \(ModelVersion.byteCountMax) is the most.")
        }
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw ModelFileError(
                .foreign, path, "The file is no XML in UTF-8. Give the file of a model, as Xcode writes it.")
        }
        if let declaration = text.firstRange(of: "<!ENTITY") {
            let before = text[..<declaration.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
            throw ModelFileError(
                .tooLarge, path, line: before.count, column: (before.last?.count ?? 0) + 1,
                "The file declares an entity, which could expand without end. No model needs one: remove it.")
        }
        let reader = MarkupReader(path: path)
        let parser = XMLParser(data: contents)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        let isComplete = parser.parse()
        if let failure = reader.failure { throw failure }
        guard let root = reader.root, isComplete, parser.parserError == nil, reader.open.isEmpty else {
            throw ModelFileError(
                .malformed, path, "The file has no element. It is empty, or ends too early: copy it again.")
        }
        return root
    }

    // MARK: The parser's calls

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?,
        qualifiedName qName: String?, attributes attributeDict: [String: String]
    ) {
        elementCount += 1
        guard elementCount <= Self.elementCountMax else {
            return stop(parser, .tooLarge, "The file has more than \(Self.elementCountMax) elements.")
        }
        guard open.count < Self.depthMax else {
            return stop(parser, .tooLarge, "Elements are more than \(Self.depthMax) deep inside each other.")
        }
        open.append(MarkupElement(name: elementName, attributes: attributeDict, line: max(parser.lineNumber, 1)))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        guard !open.isEmpty else { return }
        open[open.count - 1].text += string
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName qName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = root ?? element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred parseError: any Error) {
        let code = (parseError as NSError).code
        guard code != XMLParser.ErrorCode.delegateAbortedParseError.rawValue else { return }
        stop(parser, code == 4 ? .foreign : .malformed, Self.sentence(code))
    }

    private func stop(_ parser: XMLParser, _ code: ModelFileError.Code, _ message: String) {
        guard failure == nil else { return }
        failure = ModelFileError(
            code, path, line: max(parser.lineNumber, 1), column: max(parser.columnNumber, 1), message)
        parser.abortParsing()
    }

    /// The meaning of an error of the parser, by its number.
    private static func sentence(_ code: Int) -> String {
        switch code {
        case 4: "The file does not begin with an element. It is no XML: give the file of a model."
        case 5, 77: "The file ends inside an element. Copy it again, or restore it."
        case 9: "A character here is not allowed in XML."
        case 26, 27: "An entity here has no meaning. Write the character itself."
        case 42: "An element has an attribute twice. Remove one of them."
        case 76: "An element ends that was not the last to begin. The file was damaged or edited by hand."
        default: "The file breaks the rules of XML here (error \(code) of the parser)."
        }
    }
}
