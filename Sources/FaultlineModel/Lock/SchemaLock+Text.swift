extension SchemaLock {
    private static let heading = "faultline schema lock 1"
    private static let indent = "    "

    /// The lock as text: versions, in each its entities, in each its facts, one a line and indented.
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

    /// Reads what `text` gives.
    ///
    /// Fingerprints of versions are compared with those of their entities, so that a line that was lost in a merge is
    /// found.
    ///
    /// - Throws: `SchemaLockError`: `malformed` with the number of the line; `numberTwice`, `fingerprintTwice`.
    /// - Complexity: O(n) for n bytes, and O(v²) for v versions.
    public init(text: String) throws(SchemaLockError) {
        var reading = Reading()
        for (place, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            try reading.take(line, number: place + 1)
        }
        try self.init(versions: reading.finished())
    }

    /// The versions of the lines read so far.
    private struct Reading {
        private var versions: [Version] = []
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
            try checkLast()
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            let isDropped = words.first == "dropped"
            guard isDropped || words.first == "version", words.count == (isDropped ? 4 : 3),
                let number = Schema.Version(words[1]), let fingerprint = Fingerprint(words[2])
            else {
                throw malformed(
                    "A version has a number and a fingerprint of 32 hexadecimal digits, a dropped one a release too")
            }
            versions.append(
                Version(
                    number: number, fingerprint: fingerprint, entities: [], lastRelease: isDropped ? words[3] : nil))
        }

        private mutating func takeEntity(_ line: Substring) throws(SchemaLockError) {
            let word = "entity "
            guard line.hasPrefix(word), let end = line.lastIndex(of: " "),
                end >= line.index(line.startIndex, offsetBy: word.count),
                let fingerprint = Fingerprint(String(line[line.index(after: end)...]))
            else { throw malformed("An entity has a name and a fingerprint of 32 hexadecimal digits") }
            let name = String(line.dropFirst(word.count)[..<end])
            try changeLast { version in
                guard version.lastRelease == nil else { return nil }
                return version.adding(Entity(name: name, fingerprint: fingerprint, facts: []))
            }
        }

        private mutating func takeFact(_ line: Substring) throws(SchemaLockError) {
            try changeLast { version in
                guard let entity = version.entities.last else { return nil }
                return version.replacingLast(
                    Entity(name: entity.name, fingerprint: entity.fingerprint, facts: entity.facts + [String(line)]))
            }
        }

        private mutating func changeLast(_ change: (Version) -> Version?) throws(SchemaLockError) {
            guard let last = versions.last, let changed = change(last) else {
                throw malformed("The line belongs to no \(versions.isEmpty ? "version" : "entity")")
            }
            versions[versions.count - 1] = changed
        }

        func finished() throws(SchemaLockError) -> [Version] {
            guard isHeaded else { throw malformed("The text is empty") }
            try checkLast()
            return versions
        }

        /// A version's fingerprint is made of those of its entities.
        private func checkLast() throws(SchemaLockError) {
            guard let version = versions.last, version.lastRelease == nil else { return }
            guard
                Schema.fingerprint(of: version.entities.map { (quotedName(of: $0), $0.fingerprint) })
                    == version.fingerprint
            else {
                throw malformed(
                    "The entities of version \(version.number) are not those that its fingerprint was made of")
            }
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

extension SchemaLock.Version {
    fileprivate func adding(_ entity: SchemaLock.Entity) -> Self {
        Self(number: number, fingerprint: fingerprint, entities: entities + [entity], lastRelease: lastRelease)
    }

    fileprivate func replacingLast(_ entity: SchemaLock.Entity) -> Self {
        Self(
            number: number, fingerprint: fingerprint, entities: entities.dropLast() + [entity], lastRelease: lastRelease
        )
    }
}
