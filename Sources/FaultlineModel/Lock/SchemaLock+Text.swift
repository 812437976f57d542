extension SchemaLock {
    private static let heading = "faultline schema lock 1"
    private static let indent = "    "

    /// The lock as text, with versions, their entities and their facts indented on separate lines.
    ///
    /// - Complexity: O(n) for n bytes.
    public var text: String {
        var lines = [Self.heading]
        for version in versions {
            lines.append("")
            if let release = version.lastRelease {
                lines.append("dropped \(version.number) \(version.fingerprint) \(release)")
            } else {
                lines.append("version \(version.number) \(version.fingerprint)")
            }
            for entity in version.entities {
                lines.append("\(Self.indent)entity \(entity.name) \(entity.fingerprint)")
                lines += entity.facts.map { Self.indent + Self.indent + $0 }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Reads the form of `text`.
    ///
    /// Fingerprints of versions are compared with those of their entities, so that a line lost in a merge is detected.
    ///
    /// - Throws: `SchemaLockError`: `malformed` with the number of the line; `numberTwice`, `fingerprintTwice`.
    /// - Complexity: O(n) for n bytes.
    public init(text: String) throws(SchemaLockError) {
        var reading = Reading()
        for (place, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            try reading.take(line, number: place + 1)
        }
        try self.init(versions: reading.finished())
    }

    /// The versions of the lines read so far.
    private struct Reading {
        /// The versions before the last.
        private var versions: [Version] = []
        /// The last version, as far as its lines were read.
        private var last: OpenVersion?
        private var isHeaded = false
        private var lineNumber = 0

        mutating func take(_ line: Substring, number: Int) throws(SchemaLockError) {
            lineNumber = number
            guard isHeaded else {
                guard line == SchemaLock.heading else {
                    throw malformed(
                        "The text does not begin with \"\(SchemaLock.heading)\": it is no lock, or a newer one's")
                }
                isHeaded = true
                return
            }
            let content = line.drop { $0 == " " }
            if content.isEmpty { return }
            switch line.count - content.count {
            case 0: try takeVersion(content)
            case SchemaLock.indent.count: try takeEntity(content)
            case 2 * SchemaLock.indent.count: try takeFact(content)
            default: throw malformed("The line is indented by \(line.count - content.count) spaces")
            }
        }

        private mutating func takeVersion(_ line: Substring) throws(SchemaLockError) {
            try closeLast()
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            let isDropped = words.first == "dropped"
            guard isDropped || words.first == "version", words.count == (isDropped ? 4 : 3),
                let number = Schema.Version(words[1]), let fingerprint = Fingerprint(words[2])
            else {
                throw malformed(
                    "A version has a number and a fingerprint of 32 hexadecimal digits, a dropped one a release too")
            }
            last = OpenVersion(number: number, fingerprint: fingerprint, lastRelease: isDropped ? words[3] : nil)
        }

        private mutating func takeEntity(_ line: Substring) throws(SchemaLockError) {
            let word = "entity "
            guard line.hasPrefix(word), let end = line.lastIndex(of: " "),
                end >= line.index(line.startIndex, offsetBy: word.count),
                let fingerprint = Fingerprint(String(line[line.index(after: end)...]))
            else { throw malformed("An entity has a name and a fingerprint of 32 hexadecimal digits") }
            let name = String(line.dropFirst(word.count)[..<end])
            guard last?.lastRelease == nil, last != nil else { throw malformed("The line belongs to no version") }
            last?.entities.append(OpenEntity(name: name, fingerprint: fingerprint))
        }

        private mutating func takeFact(_ line: Substring) throws(SchemaLockError) {
            guard let count = last?.entities.count, count > 0 else {
                throw malformed("The line belongs to no entity")
            }
            last?.entities[count - 1].facts.append(String(line))
        }

        mutating func finished() throws(SchemaLockError) -> [Version] {
            guard isHeaded else { throw malformed("The text is empty") }
            try closeLast()
            return versions
        }

        /// Completes the last version; its fingerprint is made of those of its entities.
        private mutating func closeLast() throws(SchemaLockError) {
            guard let open = last else { return }
            last = nil
            let version = open.closed
            guard
                version.lastRelease != nil
                    || Schema.fingerprint(of: version.entities.map { (quotedName(of: $0), $0.fingerprint) })
                        == version.fingerprint
            else {
                throw malformed(
                    "The entities of version \(version.number) are not those that its fingerprint was made of")
            }
            versions.append(version)
        }

        private func quotedName(of entity: Entity) -> String {
            entity.name.hasPrefix("\"") ? entity.name : quoted(entity.name)
        }

        private func malformed(_ what: String) -> SchemaLockError {
            SchemaLockError(
                .malformed, nil, "Line \(lineNumber): \(what). Restore the file from version control, or write it anew."
            )
        }
    }
}

/// A version whose lines are being read.
private struct OpenVersion {
    let number: Schema.Version
    let fingerprint: Fingerprint
    let lastRelease: String?
    var entities: [OpenEntity] = []

    var closed: SchemaLock.Version {
        SchemaLock.Version(
            number: number, fingerprint: fingerprint,
            entities: entities.map { SchemaLock.Entity(name: $0.name, fingerprint: $0.fingerprint, facts: $0.facts) },
            lastRelease: lastRelease)
    }
}

/// An entity whose lines are being read.
private struct OpenEntity {
    let name: String
    let fingerprint: Fingerprint
    var facts: [String] = []
}
