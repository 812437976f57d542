import Faultline
import Glibc

/// Compares a store of the third schema with the source: every value, every relation in its order, every byte of every
/// file.
struct Comparison {
    private let set: PackageSet
    private let context: ModelContext
    /// Objects compared.
    private(set) var objectCount = 0
    private(set) var byteCount = 0
    private(set) var mismatchCount = 0
    /// The first few differences.
    private(set) var examples: [String] = []
    /// Files that the machine has changed since they were stored: they cannot be compared.
    private(set) var changedFileCount = 0

    init(_ set: PackageSet, _ container: ModelContainer) {
        self.set = set
        context = ModelContext(container)
    }

    /// Compares everything.
    mutating func run(progress: (Int) -> Void) throws {
        // Held, so that each is read once.
        let sections = try context.fetch(FetchDescriptor<DemoV3.Section>())
        let sources = try context.fetch(FetchDescriptor<DemoV3.Source>())
        let maintainers = try context.fetch(FetchDescriptor<DemoV3.Maintainer>())
        let packages = try context.fetch(FetchDescriptor<DemoV3.Package>())
        check(sections.map(\.name).sorted(), set.sections, "sections")
        check(sources.map(\.name).sorted(), set.sources, "sources")
        check(
            Set(maintainers.map { "\($0.name) <\($0.mail)>" }).sorted(),
            Set(set.packages.map { WrittenMaintainer($0.maintainer) }.map { "\($0.name) <\($0.mail)>" }).sorted(),
            "maintainers"
        )
        check(packages.count, set.packages.count, "packages")
        check(try context.fetchCount(FetchDescriptor<DemoV3.Relation>()), set.relations.count, "relations")
        check(try context.fetchCount(FetchDescriptor<DemoV3.Payload>()), set.fileCount, "payloads")
        objectCount = sections.count + sources.count + maintainers.count

        let places = Dictionary(uniqueKeysWithValues: set.packages.enumerated().map { ($1.key, $0) })
        var isSeen = [Bool](repeating: false, count: set.packages.count)
        for package in packages {
            guard let place = places[package.key], !isSeen[place] else {
                note("package \(package.key) is not in the source, or is stored twice")
                continue
            }
            isSeen[place] = true
            compare(package, set.packages[place])
            compareRelations(of: package, place)
            try compareFile(of: package, set.packages[place])
            progress(objectCount)
        }
        for (place, isThere) in isSeen.enumerated() where !isThere {
            note("package \(set.packages[place].key) is missing")
        }
    }

    private mutating func compare(_ package: DemoV3.Package, _ source: ImportedPackage) {
        objectCount += 1
        let key = source.key
        check(package.name, source.name, key, "name")
        check(package.architecture, source.architecture, key, "architecture")
        check(package.version, source.version, key, "version")
        check(package.sourceVersion, source.sourceVersion, key, "sourceVersion")
        check(package.synopsis, source.synopsis, key, "synopsis")
        check(package.details, source.details, key, "details")
        check(package.website ?? "", source.homepage, key, "website")
        check(package.installedByteCount, source.installedByteCount, key, "installedByteCount")
        check(package.downloadByteCount, source.downloadByteCount, key, "downloadByteCount")
        check(package.isInstalled, source.isInstalled, key, "isInstalled")
        check(package.isPinned, false, key, "isPinned")
        check(package.section?.name ?? "", source.section, key, "section")
        check(package.source?.name ?? "", source.sourceName, key, "source")
        let written = WrittenMaintainer(source.maintainer)
        check(package.maintainer?.name, written.name, key, "maintainer.name")
        check(package.maintainer?.mail, written.mail, key, "maintainer.mail")
    }

    private mutating func compareRelations(of package: DemoV3.Package, _ place: Int) {
        let stored = package.relations
        let wanted = set.relations(of: place)
        let key = set.packages[place].key
        check(stored.count, wanted.count, key, "relations.count")
        for (relation, source) in zip(stored, wanted) {
            objectCount += 1
            let isSame =
                relation.kind == Int(source.kind.rawValue) && relation.group == Int(source.group)
                && relation.position == Int(source.position) && relation.targetName == source.targetName
                && relation.targetArchitecture == source.targetArchitecture
                && relation.comparison == Int(source.comparison.rawValue)
                && relation.targetVersion == source.targetVersion
                && relation.target?.key == (source.isDangling ? nil : set.packages[Int(source.target)].key)
            if !isSame { note("a relation of \(key) to \(source.targetName) differs") }
        }
    }

    private mutating func compareFile(of package: DemoV3.Package, _ source: ImportedPackage) throws {
        check(package.payload?.path, source.file?.path, source.key, "payload.path")
        guard let file = source.file, let payload = package.payload, let blob = payload.blob(\.bytes) else { return }
        objectCount += 1
        check(blob.byteCount, file.byteCount, source.key, "payload.bytes.count")
        guard blob.byteCount == file.byteCount else { return }
        var differences = 0
        do {
            try file.forEachPiece { piece, offset in
                let stored = try blob.data(in: offset..<offset + piece.count)
                let isSame = stored.withUnsafeBytes { stored in
                    guard let left = stored.baseAddress, let right = piece.baseAddress else { return piece.isEmpty }
                    return memcmp(left, right, piece.count) == 0
                }
                if !isSame { differences += 1 }
            }
            if differences > 0 { note("the bytes of \(file.path) differ in \(differences) pieces") }
            byteCount += file.byteCount
        } catch let error as SourceError {
            changedFileCount += 1
            if examples.count < 10 { examples.append("\(error) (not counted as a difference)") }
        }
    }

    private mutating func check<Value: Equatable>(
        _ stored: Value,
        _ wanted: Value,
        _ what: @autoclosure () -> String,
        _ property: StaticString = ""
    ) {
        if stored != wanted { note("\(what()) \(property) differs: the store has \(stored), the source \(wanted)") }
    }

    private mutating func note(_ text: String) {
        mismatchCount += 1
        if examples.count < 10 { examples.append(text.count > 300 ? text.prefix(300) + " …" : text) }
    }
}
