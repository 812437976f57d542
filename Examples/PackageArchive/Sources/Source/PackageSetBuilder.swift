/// Collects packages from stanzas, keeps one of each key, and joins the relations at the end.
///
/// The rule where several stanzas have the same name and architecture: one from the machine's status wins over one from
/// the list of available packages; among stanzas of the same kind the later version wins; of equal versions the first.
/// A status stanza takes the size of the package file, which it lacks, from an available stanza of the same version.
package struct PackageSetBuilder {
    var report = ImportReport()
    var pool = StringPool()
    private var packages: [ImportedPackage] = []
    private var relations: [ImportedRelation] = []
    /// The pool's number of each relation's target name.
    private var targets: [Int32] = []
    /// The pool's numbers of each package's name and architecture.
    private var names: [(name: Int32, architecture: Int32)] = []
    private var places: [UInt64: Int32] = [:]
    private var isFromStatus: [Bool] = []

    package init() {
        packages.reserveCapacity(1 << 16)
    }

    /// Reads the stanzas of one stream.
    ///
    /// - Parameters:
    ///   - file: The name that the report shows.
    ///   - isStatus: Whether the stanzas describe installed packages, or only available ones.
    ///   - read: Fills the memory it is given and says how many bytes it put there; 0 ends the stream.
    /// - Throws: The errors of `read`; the packages read before stay.
    package mutating func read(
        file: String,
        isStatus: Bool,
        _ read: (UnsafeMutableRawBufferPointer) throws(SourceError) -> Int
    ) throws(SourceError) {
        let parser = StanzaParser(file: file, isStatus: isStatus)
        var reader = StanzaReader()
        try reader.forEachStanza(read: read) { parser.parse($0, into: &self) }
    }

    /// Where the relations of the current stanza begin.
    var relationCount: Int { relations.count }

    @inline(__always)
    mutating func appendRelation(_ alternative: RelationParser.Alternative, kind: ImportedRelation.Kind) {
        // Interned before any look-up: a subscript's base is read before its index is evaluated.
        let target = pool.intern(alternative.name)
        let architecture = pool.intern(alternative.architecture)
        let version = pool.intern(alternative.version)
        relations.append(
            ImportedRelation(
                owner: Int32(truncatingIfNeeded: packages.count),
                kind: kind,
                group: alternative.group,
                position: alternative.position,
                targetName: pool[target],
                targetArchitecture: pool[architecture],
                comparison: alternative.comparison,
                targetVersion: pool[version],
                target: -1
            )
        )
        targets.append(target)
    }

    /// Drops the relations that were appended after the first `count`: their stanza is broken or superseded.
    mutating func dropRelations(downTo count: Int) {
        relations.removeLast(relations.count - count)
        targets.removeLast(targets.count - count)
    }

    /// Appends the package whose relations start at `firstRelation`.
    mutating func append(
        _ package: ImportedPackage,
        name: Int32,
        architecture: Int32,
        firstRelation: Int,
        isStatus: Bool
    ) {
        var package = package
        package.relations = firstRelation..<relations.count
        let key = UInt64(UInt32(bitPattern: name)) << 32 | UInt64(UInt32(bitPattern: architecture))
        guard let known = places[key].map(Int.init) else {
            places[key] = Int32(truncatingIfNeeded: packages.count)
            packages.append(package)
            names.append((name, architecture))
            isFromStatus.append(isStatus)
            return
        }

        report.countSupersededStanza()
        let other = packages[known]
        if isFromStatus[known], !isStatus, other.version == package.version, other.downloadByteCount == nil {
            packages[known].downloadByteCount = package.downloadByteCount
        }
        let isSameKind = isFromStatus[known] == isStatus
        let isLater = isSameKind && DebianVersion.isEarlier(other.version, than: package.version)
        guard isLater || (isStatus && !isSameKind) else {
            dropRelations(downTo: firstRelation)
            return
        }
        // The relations of the superseded package stay, without an owner; `finish` leaves them out.
        packages[known] = package
        isFromStatus[known] = isStatus
    }

    /// The set: relations put in the order of their owners and joined with their targets by name.
    ///
    /// Of several architectures the target is the package of the owner's own, else the first.
    package consuming func finish(origin: String) -> PackageSet {
        var first = [Int32](repeating: -1, count: pool.texts.count)
        var next = [Int32](repeating: -1, count: packages.count)
        for place in packages.indices.reversed() {
            let name = Int(names[place].name)
            next[place] = first[name]
            first[name] = Int32(truncatingIfNeeded: place)
        }

        var result = PackageSet()
        result.relations.reserveCapacity(relations.count)
        for place in packages.indices {
            let own = packages[place].relations
            let start = result.relations.count
            for old in own {
                var relation = relations[old]
                relation.owner = Int32(truncatingIfNeeded: place)
                var candidate = first[Int(targets[old])]
                relation.target = candidate
                while candidate >= 0 {
                    if names[Int(candidate)].architecture == names[place].architecture {
                        relation.target = candidate
                        break
                    }
                    candidate = next[Int(candidate)]
                }
                result.relations.append(relation)
            }
            packages[place].relations = start..<result.relations.count
        }
        result.packages = packages
        result.origin = origin
        result.report = report
        return result
    }
}
