import Glibc

/// The fields of a stanza that the demo reads; all others are ignored.
enum StanzaField {
    case package, status, version, architecture, section, priority, installedSize, size, maintainer, source
    case description, homepage
    case relation(ImportedRelation.Kind)

    /// The field of a name; case does not matter.
    @inline(__always)
    static func named(_ name: UnsafeRawBufferPointer) -> StanzaField? {
        guard name.count < table.count else { return nil }
        for (spelling, field) in table[name.count] where isSame(name, spelling) { return field }
        return nil
    }

    /// The fields by the length of their names.
    private static let table: [[(StaticString, StanzaField)]] = {
        var all: [(StaticString, StanzaField)] = [
            ("Package", .package), ("Status", .status), ("Version", .version), ("Architecture", .architecture),
            ("Section", .section), ("Priority", .priority), ("Installed-Size", .installedSize), ("Size", .size),
            ("Maintainer", .maintainer), ("Source", .source), ("Description", .description), ("Homepage", .homepage),
        ]
        all += ImportedRelation.Kind.allCases.map { ($0.fieldName, .relation($0)) }
        let longest = all.map(\.0.utf8CodeUnitCount).max() ?? 0
        return (0...longest).map { count in all.filter { $0.0.utf8CodeUnitCount == count } }
    }()

    @inline(__always)
    private static func isSame(_ name: UnsafeRawBufferPointer, _ spelling: StaticString) -> Bool {
        guard let base = name.baseAddress else { return false }
        return strncasecmp(base.assumingMemoryBound(to: CChar.self), spelling.utf8Start, name.count) == 0
    }
}
