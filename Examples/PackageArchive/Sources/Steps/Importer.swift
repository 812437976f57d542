import Faultline

/// Stores a package set under the first schema, batch by batch; objects that an earlier run has stored are recognised
/// and left out.
///
/// Related objects are found by a table of their identifiers. Each batch has a context of its own, so that memory
/// follows the batch.
struct Importer {
    /// Objects in a transaction.
    static let batchCount = 16_384
    /// Bytes of files in a transaction.
    static let batchByteCount = 16 << 20

    private let set: PackageSet
    private let container: ModelContainer
    private let journal: Journal
    private var sections: [String: PersistentIdentifier] = [:]
    private var sources: [String: PersistentIdentifier] = [:]
    /// By place in the set.
    private var packages: [PersistentIdentifier?]
    private var hasPayload: [Bool]
    private var relationCount = 0

    /// Objects and bytes that this run has stored.
    private(set) var storedObjectCount = 0
    private(set) var storedByteCount = 0
    /// Objects that the journal has acknowledged, and the store lacks.
    private(set) var lostCount = 0

    init(_ set: PackageSet, into container: ModelContainer, journal: Journal) {
        self.set = set
        self.container = container
        self.journal = journal
        packages = Array(repeating: nil, count: set.packages.count)
        hasPayload = Array(repeating: false, count: set.packages.count)
    }

    /// Finds the objects that are stored already, and compares them with the journal.
    mutating func recognise() throws {
        let context = ModelContext(container)
        relationCount = try context.fetchCount(FetchDescriptor<DemoV1.Relation>())
        var sections: [String: PersistentIdentifier] = [:]
        var sources: [String: PersistentIdentifier] = [:]
        try context.enumerate(FetchDescriptor<DemoV1.Section>()) { sections[$0.name] = $0.persistentModelID }
        try context.enumerate(FetchDescriptor<DemoV1.Source>()) { sources[$0.name] = $0.persistentModelID }
        self.sections = sections
        self.sources = sources
        if try context.fetchCount(FetchDescriptor<DemoV1.Package>()) > 0 {
            let places = Dictionary(uniqueKeysWithValues: set.packages.enumerated().map { ($1.key, $0) })
            var packages = packages
            var hasPayload = hasPayload
            try context.enumerate(FetchDescriptor<DemoV1.Package>()) { package in
                guard let place = places[package.key] else { return }
                packages[place] = package.persistentModelID
                hasPayload[place] = package.payloadPath != nil
            }
            self.packages = packages
            self.hasPayload = hasPayload
        }
        lostCount = countLost()
    }

    private func countLost() -> Int {
        var lost = max(0, (journal["sections"] ?? 0) - sections.count)
        lost += max(0, (journal["sources"] ?? 0) - sources.count)
        lost += max(0, (journal["relations"] ?? 0) - relationCount)
        lost += packages.prefix(journal["packages"] ?? 0).count { $0 == nil }
        let files = set.packages.indices.filter { set.packages[$0].file != nil }
        lost += files.prefix(journal["blobs"] ?? 0).count { !hasPayload[$0] }
        return lost
    }

    // MARK: Objects

    /// Stores everything but the large attributes.
    mutating func storeObjects(progress: (Int) -> Void) throws {
        try storeNames(progress)
        try storePackages(progress)
        try storeRelations(progress)
    }

    private mutating func storeNames(_ progress: (Int) -> Void) throws {
        let names = set.sections
        for start in stride(from: 0, to: names.count, by: Self.batchCount) {
            let context = ModelContext(container)
            let new = names[start..<min(start + Self.batchCount, names.count)].filter { sections[$0] == nil }
                .map { DemoV1.Section(name: $0) }
            for section in new { context.insert(section) }
            try context.save()
            for section in new { sections[section.name] = section.persistentModelID }
            storedObjectCount += new.count
            try journal.set(["sections": start + Self.batchCount > names.count ? names.count : start + Self.batchCount])
            progress(storedObjectCount)
        }
        let sourceNames = set.sources
        for start in stride(from: 0, to: sourceNames.count, by: Self.batchCount) {
            let context = ModelContext(container)
            let end = min(start + Self.batchCount, sourceNames.count)
            let new = sourceNames[start..<end].filter { sources[$0] == nil }.map { DemoV1.Source(name: $0) }
            for source in new { context.insert(source) }
            try context.save()
            for source in new { sources[source.name] = source.persistentModelID }
            storedObjectCount += new.count
            try journal.set(["sources": end])
            progress(storedObjectCount)
        }
    }

    private mutating func storePackages(_ progress: (Int) -> Void) throws {
        for start in stride(from: 0, to: set.packages.count, by: Self.batchCount) {
            let end = min(start + Self.batchCount, set.packages.count)
            let context = ModelContext(container)
            var new: [(place: Int, package: DemoV1.Package)] = []
            new.reserveCapacity(end - start)
            for place in start..<end where packages[place] == nil {
                let imported = set.packages[place]
                let package = DemoV1.Package(imported)
                context.insert(package)
                package.section = sections[imported.section].flatMap { context.model(for: $0) as? DemoV1.Section }
                package.source = sources[imported.sourceName].flatMap { context.model(for: $0) as? DemoV1.Source }
                new.append((place, package))
            }
            try context.save()
            for (place, package) in new { packages[place] = package.persistentModelID }
            storedObjectCount += new.count
            try journal.set(["packages": end])
            progress(storedObjectCount)
        }
    }

    private mutating func storeRelations(_ progress: (Int) -> Void) throws {
        // Relations have no key: they are stored in the order of the set, and a transaction is stored as a whole or not
        // at all, so their number says which ones are stored.
        var start = relationCount
        while start < set.relations.count {
            let end = min(start + Self.batchCount, set.relations.count)
            let context = ModelContext(container)
            for relation in set.relations[start..<end] {
                guard let owner = package(at: Int(relation.owner), in: context) else { continue }
                let target = relation.isDangling ? nil : package(at: Int(relation.target), in: context)
                context.insert(DemoV1.Relation(relation, owner: owner, target: target))
            }
            try context.save()
            storedObjectCount += end - start
            try journal.set(["relations": end])
            progress(storedObjectCount)
            start = end
        }
        relationCount = set.relations.count
    }

    private func package(at place: Int, in context: ModelContext) -> DemoV1.Package? {
        packages[place].flatMap { context.model(for: $0) as? DemoV1.Package }
    }

    // MARK: Large attributes

    /// Stores the large attributes of the packages that have one.
    mutating func storePayloads(progress: (Int) -> Void) throws {
        var context = ModelContext(container)
        var unsavedByteCount = 0
        var acknowledged = 0
        var done = 0
        func save() throws {
            try context.save()
            try journal.set(["blobs": done])
            acknowledged = done
            context = ModelContext(container)
            unsavedByteCount = 0
        }
        for place in set.packages.indices {
            guard let file = set.packages[place].file else { continue }
            done += 1
            guard !hasPayload[place], let package = package(at: place, in: context) else { continue }
            var bytes = Data(capacity: file.byteCount)
            try file.forEachPiece { piece, _ in bytes.append(contentsOf: piece) }
            package.payload = bytes
            package.payloadPath = file.path
            unsavedByteCount += file.byteCount
            storedByteCount += file.byteCount
            if unsavedByteCount >= Self.batchByteCount { try save() }
            progress(storedByteCount)
        }
        if done > acknowledged { try save() }
    }
}
