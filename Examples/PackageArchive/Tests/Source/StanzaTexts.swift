import PackageArchive

/// Reads stanzas from texts in memory, like files, in pieces of any size.
struct StanzaTexts {
    var status: [UInt8] = []
    var available: [UInt8] = []
    /// Bytes that one read returns.
    var pieceByteCount = 1 << 20

    init(status: String = "", available: String = "", pieceByteCount: Int = 1 << 20) {
        self.status = Array(status.utf8)
        self.available = Array(available.utf8)
        self.pieceByteCount = pieceByteCount
    }

    init(status: [UInt8]) {
        self.status = status
    }

    func read() throws -> PackageSet {
        var builder = PackageSetBuilder()
        for (file, bytes) in [("status", status), ("available", available)] where !bytes.isEmpty {
            var place = 0
            try builder.read(file: file, isStatus: file == "status") { memory in
                let count = min(pieceByteCount, memory.count, bytes.count - place)
                memory.copyBytes(from: bytes[place..<(place + count)])
                place += count
                return count
            }
        }
        return builder.finish(origin: "texts")
    }
}

extension PackageSet {
    /// The relations of the package with a name, one text each: `kind group.position target:architecture operator
    /// version`.
    func relationTexts(of name: String) -> [String] {
        guard let place = packages.firstIndex(where: { $0.name == name }) else { return [] }
        return relations(of: place).map { relation in
            var text = "\(relation.kind.fieldName) \(relation.group).\(relation.position) \(relation.targetName)"
            if !relation.targetArchitecture.isEmpty { text += ":" + relation.targetArchitecture }
            if relation.comparison != .any { text += " \(relation.comparison.symbol) \(relation.targetVersion)" }
            return text
        }
    }
}
