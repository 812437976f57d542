/// Everything the demo imports, in memory as plain values: the store's contents are compared with it afterwards.
///
/// Invariants:
/// - name and architecture together are unique among `packages`;
/// - `relations` are grouped by owner, in the order of `packages`, and each package's range covers exactly its own;
/// - within an owner, relations have the order of the stanza's fields, groups and positions.
package struct PackageSet: Sendable {
    package var packages: [ImportedPackage] = []
    package var relations: [ImportedRelation] = []
    /// Where the packages come from, in words for a person.
    package var origin = ""
    /// How many times the source's packages are contained: 1, or more where they were repeated under new names.
    package var repetitionCount = 1
    package var report = ImportReport()

    package init() {}

    /// The relations of the package at this place.
    package func relations(of package: Int) -> ArraySlice<ImportedRelation> {
        relations[packages[package].relations]
    }

    /// The sections, sorted, each once.
    package var sections: [String] { distinct(\.section) }

    /// The names of source packages, sorted, each once.
    package var sources: [String] { distinct(\.sourceName) }

    /// The maintainers as written, sorted, each once.
    package var maintainers: [String] { distinct(\.maintainer) }

    /// How many objects the demo stores at least: packages, relations, sections and source packages.
    package var objectCount: Int {
        packages.count + relations.count + sections.count + sources.count
    }

    /// How many relations ask for a name that no package of the set has.
    package var danglingCount: Int { relations.count(where: \.isDangling) }

    /// How many packages have a large attribute.
    package var fileCount: Int { packages.count { $0.file != nil } }

    /// Bytes of all large attributes.
    package var fileByteCount: Int { packages.reduce(0) { $0 + ($1.file?.byteCount ?? 0) } }

    /// The place of every package by its key.
    package func places() -> [PackageKey: Int] {
        var places = [PackageKey: Int](minimumCapacity: packages.count)
        for (place, package) in packages.enumerated() {
            places[PackageKey(name: package.name, architecture: package.architecture)] = place
        }
        return places
    }

    private func distinct(_ text: KeyPath<ImportedPackage, String>) -> [String] {
        var seen = Set<String>()
        for package in packages { seen.insert(package[keyPath: text]) }
        seen.remove("")
        return seen.sorted()
    }
}

extension PackageSet {
    /// A number that distinguishes this set from others: names, versions, relations and files go into it.
    package var digest: Int {
        // FNV-1a: the number has to be the same in every process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        for package in packages {
            add(package.name)
            add(package.architecture)
            add(package.version)
            if let file = package.file {
                add(file.path)
                add("\(file.byteCount)")
            }
        }
        add("\(relations.count)")
        return Int(truncatingIfNeeded: hash >> 1)
    }
}
