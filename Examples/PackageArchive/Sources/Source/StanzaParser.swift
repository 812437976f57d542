/// Turns stanzas of one file into packages; counts, names and skips unreadable parts.
struct StanzaParser {
    /// The name of the file, as reports show it.
    let file: String
    /// Whether the stanzas describe installed packages (the machine's status) or only available ones.
    let isStatus: Bool

    /// Reads one stanza into `builder`.
    func parse(_ stanza: StanzaReader.Stanza, into builder: inout PackageSetBuilder) {
        builder.report.countStanza()
        var found = Found()
        let firstRelation = builder.relationCount
        forEachField(of: stanza, &builder) { field, value, line, builder in
            take(field, value, line, &found, &builder)
        }

        let problem: String?
        switch (found.name, found.version, found.architecture) {
        case (nil, _, _): problem = "the stanza has no usable Package field"
        case (_, nil, _) where isStatus && found.isKnownOnly:
            builder.dropRelations(downTo: firstRelation)
            builder.report.countEmptyStanza()
            return
        case (_, nil, _): problem = "the stanza has no usable Version field"
        case (_, _, nil): problem = "the stanza has no usable Architecture field"
        default: problem = nil
        }
        guard problem == nil, let name = found.name, let architecture = found.architecture else {
            builder.dropRelations(downTo: firstRelation)
            builder.report.skipStanza(file, line: stanza.line, problem ?? "")
            return
        }
        var package = found.package
        if package.sourceName.isEmpty { package.sourceName = package.name }
        if package.sourceVersion.isEmpty { package.sourceVersion = package.version }
        builder.append(
            package,
            name: name,
            architecture: architecture,
            firstRelation: firstRelation,
            isStatus: isStatus
        )
    }

    /// The results of the fields of a stanza so far.
    private struct Found {
        var package = ImportedPackage()
        var name: Int32?
        var version: Int32?
        var architecture: Int32?
        /// The status says that the package is absent: it was purged or is only mentioned.
        var isKnownOnly = false
        var seen: UInt64 = 0
    }

    /// Cuts the stanza into fields: a line `Name: value` and the lines after it that begin with a blank.
    @inline(__always)
    private func forEachField(
        of stanza: StanzaReader.Stanza,
        _ builder: inout PackageSetBuilder,
        _ body: (StanzaField, UnsafeRawBufferPointer, Int, inout PackageSetBuilder) -> Void
    ) {
        let bytes = stanza.bytes
        var place = 0
        var line = stanza.line
        while place < bytes.count {
            let fieldStart = place
            let fieldLine = line
            var end = place
            repeat {
                let rest = bytes.part(place..<bytes.count)
                end = place + (rest.firstNewline ?? rest.count)
                place = min(end + 1, bytes.count)
                line += 1
            } while place < bytes.count && (bytes[place] == 0x20 || bytes[place] == 0x09)

            let text = bytes.part(fieldStart..<end)
            guard let colon = text.firstPlace(of: UInt8(ascii: ":")), Self.isFieldName(text.part(0..<colon)) else {
                builder.report.skipField(file, line: fieldLine, "not a field: \(Self.excerpt(text))")
                continue
            }
            guard let field = StanzaField.named(text.part(0..<colon)) else { continue }
            body(field, text.part((colon + 1)..<text.count).trimmed, fieldLine, &builder)
        }
    }

    @inline(__always)
    private func take(
        _ field: StanzaField,
        _ value: UnsafeRawBufferPointer,
        _ line: Int,
        _ found: inout Found,
        _ builder: inout PackageSetBuilder
    ) {
        guard value.firstPlace(of: 0) == nil else {
            builder.report.skipField(file, line: line, "the field holds a zero byte: \(Self.excerpt(value))")
            return
        }
        let bit = UInt64(1) << field.number
        guard found.seen & bit == 0 else {
            builder.report.skipField(file, line: line, "the field occurs twice: \(Self.excerpt(value))")
            return
        }
        found.seen |= bit

        switch field {
        case .package:
            guard value.count > 0, value.allSatisfy(RelationParser.isNameByte) else {
                builder.report.skipField(file, line: line, "not a package name: \(Self.excerpt(value))")
                return
            }
            let number = text(value, line, &builder)
            found.name = number
            found.package.name = builder.pool[number]
        case .status: takeStatus(value, line, &found, &builder)
        case .version:
            guard let number = word(value, line, &builder) else { return }
            found.version = number
            found.package.version = builder.pool[number]
        case .architecture:
            guard let number = word(value, line, &builder) else { return }
            found.architecture = number
            found.package.architecture = builder.pool[number]
        case .section: found.package.section = shared(value, line, &builder)
        case .priority: found.package.priority = shared(value, line, &builder)
        case .maintainer: found.package.maintainer = shared(value, line, &builder)
        case .homepage: found.package.homepage = shared(value, line, &builder)
        case .installedSize: found.package.installedByteCount = number(value, times: 1024, line, &builder)
        case .size: found.package.downloadByteCount = number(value, times: 1, line, &builder)
        case .source: takeSource(value, line, &found, &builder)
        case .description: takeDescription(value, line, &found, &builder)
        case .relation(let kind): takeRelations(kind, value, line, &builder)
        }
    }

    /// `want flag status`: three words; the last one says whether the package is installed.
    private func takeStatus(
        _ value: UnsafeRawBufferPointer,
        _ line: Int,
        _ found: inout Found,
        _ builder: inout PackageSetBuilder
    ) {
        let words = value.split(whereSeparator: \.isBlank)
        guard words.count == 3, let last = words.last else {
            builder.report.skipField(file, line: line, "a status has three words: \(Self.excerpt(value))")
            return
        }
        found.package.isInstalled = isStatus && last.elementsEqual("installed".utf8)
        found.isKnownOnly = last.elementsEqual("not-installed".utf8) || last.elementsEqual("config-files".utf8)
    }

    /// `name` or `name (version)`.
    private func takeSource(
        _ value: UnsafeRawBufferPointer,
        _ line: Int,
        _ found: inout Found,
        _ builder: inout PackageSetBuilder
    ) {
        guard let bracket = value.firstPlace(of: UInt8(ascii: "(")) else {
            found.package.sourceName = shared(value, line, &builder)
            return
        }
        guard value[value.count - 1] == UInt8(ascii: ")") else {
            builder.report.skipField(file, line: line, "not a source name and version: \(Self.excerpt(value))")
            return
        }
        let version = value.part((bracket + 1)..<(value.count - 1)).trimmed
        found.package.sourceName = shared(value.part(0..<bracket).trimmed, line, &builder)
        found.package.sourceVersion = shared(version, line, &builder)
    }

    /// The first line is the synopsis; of the others the first blank goes, and a lone dot stands for an empty line.
    private func takeDescription(
        _ value: UnsafeRawBufferPointer,
        _ line: Int,
        _ found: inout Found,
        _ builder: inout PackageSetBuilder
    ) {
        guard let end = value.firstNewline else {
            found.package.synopsis = string(value, line, &builder)
            return
        }
        found.package.synopsis = string(value.part(0..<end).trimmed, line, &builder)
        let details = [UInt8](unsafeUninitializedCapacity: value.count - end) { unwritten, count in
            var place = end + 1
            while place < value.count {
                let rest = value.part(place..<value.count)
                let length = rest.firstNewline ?? rest.count
                var text = rest.part(min(1, length)..<length)
                if text.count > 0, text[text.count - 1] == UInt8(ascii: "\r") { text = text.part(0..<(text.count - 1)) }
                if count > 0 {
                    unwritten[count] = UInt8(ascii: "\n")
                    count += 1
                }
                if !(text.count == 1 && text[0] == UInt8(ascii: ".")) {
                    for byte in text {
                        unwritten[count] = byte
                        count += 1
                    }
                }
                place += length + 1
            }
        }
        found.package.details = details.withUnsafeBytes { string($0, line, &builder) }
    }

    @inline(__always)
    private func takeRelations(
        _ kind: ImportedRelation.Kind,
        _ value: UnsafeRawBufferPointer,
        _ line: Int,
        _ builder: inout PackageSetBuilder
    ) {
        RelationParser.parse(
            value,
            found: { builder.appendRelation($0, kind: kind) },
            broken: { part in
                builder.report.skipField(file, line: line, "not a relation in \(kind.fieldName): \(Self.excerpt(part))")
            }
        )
    }

    /// The pool's number of a value that may repeat.
    @inline(__always)
    private func text(_ value: UnsafeRawBufferPointer, _ line: Int, _ builder: inout PackageSetBuilder) -> Int32 {
        let number = builder.pool.intern(value)
        if !builder.pool.repaired.isEmpty, builder.pool.repaired.contains(number) {
            noteEncoding(value, line, &builder)
        }
        return number
    }

    /// The pool's text of a value that may repeat.
    @inline(__always)
    private func shared(_ value: UnsafeRawBufferPointer, _ line: Int, _ builder: inout PackageSetBuilder) -> String {
        let number = text(value, line, &builder)
        return builder.pool[number]
    }

    /// The pool's number of a value that is one word.
    @inline(__always)
    private func word(_ value: UnsafeRawBufferPointer, _ line: Int, _ builder: inout PackageSetBuilder) -> Int32? {
        guard value.count > 0, !value.contains(where: \.isBlank) else {
            builder.report.skipField(file, line: line, "not one word: \(Self.excerpt(value))")
            return nil
        }
        return text(value, line, &builder)
    }

    /// A value that hardly ever repeats.
    private func string(_ value: UnsafeRawBufferPointer, _ line: Int, _ builder: inout PackageSetBuilder) -> String {
        let (string, isRepaired) = StringPool.decode(value)
        if isRepaired { noteEncoding(value, line, &builder) }
        return string
    }

    private func noteEncoding(_ value: UnsafeRawBufferPointer, _ line: Int, _ builder: inout PackageSetBuilder) {
        builder.report.skipField(file, line: line, "not UTF-8, read as Latin-1: \(Self.excerpt(value))")
    }

    @inline(__always)
    private func number(
        _ value: UnsafeRawBufferPointer,
        times factor: Int,
        _ line: Int,
        _ builder: inout PackageSetBuilder
    ) -> Int? {
        var number = 0
        var isGood = value.count > 0
        for byte in value {
            let digit = Int(byte) - 48
            let (tenfold, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowToo) = tenfold.addingReportingOverflow(digit)
            guard digit >= 0, digit <= 9, !overflow, !overflowToo else {
                isGood = false
                break
            }
            number = sum
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        guard isGood, !overflow else {
            builder.report.skipField(file, line: line, "not a number of bytes: \(Self.excerpt(value))")
            return nil
        }
        return product
    }

    /// Printable ASCII without blank and colon, not beginning with `#` or `-`.
    @inline(__always)
    private static func isFieldName(_ name: UnsafeRawBufferPointer) -> Bool {
        guard name.count > 0, name[0] != UInt8(ascii: "#"), name[0] != UInt8(ascii: "-") else { return false }
        return name.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// The first bytes of a text for a report, on one line, anything unprintable as a question mark.
    private static func excerpt(_ text: UnsafeRawBufferPointer) -> String {
        let shown = text.prefix(60).map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }
        return "“" + String(decoding: shown, as: UTF8.self) + (text.count > 60 ? "…”" : "”")
    }
}

extension StanzaField {
    /// A number below 64, different for every field.
    fileprivate var number: UInt64 {
        switch self {
        case .package: 0
        case .status: 1
        case .version: 2
        case .architecture: 3
        case .section: 4
        case .priority: 5
        case .installedSize: 6
        case .size: 7
        case .maintainer: 8
        case .source: 9
        case .description: 10
        case .homepage: 11
        case .relation(let kind): 16 + UInt64(kind.rawValue)
        }
    }
}
