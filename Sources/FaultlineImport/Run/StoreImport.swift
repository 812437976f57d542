#if Import
public import Foundation
public import FaultlineCoreData
internal import FaultlineDisk
internal import FaultlineLog
public import FaultlineModel
internal import FaultlineStore

/// Makes a store of the contents of one that Core Data or SwiftData has written.
///
///     let report = try StoreImport(from: old, to: new).run()
///     if !report.isComplete { report.findings.forEach { print($0.entity, $0.property, $0.reason, $0.count) } }
///
/// The source is the `.sqlite` or `.store` file, with its `-wal` and its folder of large values beside it. Nothing of it
/// is written, and no file is made in its folder. Objects keep their numbers: `Z_PK` becomes the `primaryKey` of
/// `PersistentIdentifier`.
///
/// The new store appears when it is complete; until then it is in a folder beside it, `NAME.import`. If the process is
/// killed, the next call goes on with the batch that was being written, as long as the source has not changed.
///
/// Memory: 24 MiB for the new store, 8 MiB for pages of the source, and one batch of 4 MiB; a text, and a value that is
/// unique, is in memory as a whole. Large values are read and written in pieces.
public struct StoreImport: Sendable {
    /// Memory of the new store's engine.
    private static let memoryBudget = 24 << 20

    private let source: SourceFiles
    private let folder: WorkFolder
    private let model: Model
    /// Called on the thread of `run`, after each batch.
    public var progress: (@Sendable (ImportProgress) -> Void)?

    /// The model of a source.
    private enum Model {
        case stored
        case given([Schema])
    }

    /// Prepares the import of a store by the model that Core Data keeps in it.
    ///
    /// - Parameters:
    ///   - source: The store's file.
    ///   - destination: The new store, which must not exist.
    public init(from source: URL, to destination: URL) {
        self.init(source, destination, .stored)
    }

    /// Prepares the import of a store by the version of a model package that fits it.
    ///
    /// - Parameters:
    ///   - source: The store's file.
    ///   - destination: The new store, which must not exist.
    ///   - package: The package. Of several versions that fit, the one is taken that leaves the fewest columns of the store
    ///     without a property; of equal ones the current version, then the last.
    public init(from source: URL, to destination: URL, package: ModelPackage) {
        let others = package.versions.indices.reversed().filter { $0 != package.currentIndex }
        self.init(source, destination, .given(([package.currentIndex] + others).map { package.versions[$0].schema }))
    }

    /// Prepares the import of a store by a schema.
    ///
    /// - Parameters:
    ///   - source: The store's file.
    ///   - destination: The new store, which must not exist.
    ///   - schema: The model that the source was written with. Its classes, if it has any, are not used.
    public init(from source: URL, to destination: URL, schema: Schema) {
        self.init(source, destination, .given([schema]))
    }

    private init(_ source: URL, _ destination: URL, _ model: Model) {
        self.source = SourceFiles(source)
        folder = WorkFolder(destination)
        self.model = model
    }

    /// The mapping of the model that fits best, the first of equal ones, and the model.
    private func fit(
        _ database: SQLiteDatabase, _ catalog: SourceCatalog
    ) throws -> (builder: MappingBuilder, schema: Schema) {
        let schemas: [Schema]
        switch model {
        case .stored: schemas = [try StoredModel.schema(database, catalog)]
        case .given(let given): schemas = given
        }
        let stored = schemas.count > 1 ? try? StoredModel.schema(database, catalog) : nil
        var first: ImportError?
        var best: (builder: MappingBuilder, schema: Schema, fit: ModelFit)?
        for schema in schemas {
            if let table = schema.entities.first(where: \.hasHeirs) {
                throw ImportError(
                    .modelMismatch,
                    "The model is the schema of tables that a store has: the table of \(table.name) does not say where the relationships of each class lead. Give the model or the classes that the table was made of.",
                    path: source.path, entity: table.name)
            }
            let plain = try schema.withoutClasses()
            var builder = MappingBuilder(database, catalog, plain)
            do throws(ImportError) { try builder.check() } catch {
                guard error.code == .modelMismatch else { throw error }
                first = first ?? error
                continue
            }
            let fit = ModelFit(builder, stored)
            if let known = best?.fit, fit >= known { continue }
            best = (builder, plain, fit)
        }
        if let best { return (best.builder, best.schema) }
        throw first ?? ImportError(.modelMismatch, "The package has no version.", path: source.path)
    }

    /// Imports the store, or goes on with an interrupted import.
    ///
    /// - Returns: The values of both sides, and what could not be carried over.
    /// - Throws: `ImportError`; `SchemaError` for an invalid model; `StorageError` and others of the new store. The
    ///   destination does not exist then.
    /// - Complexity: O(n) for n objects, values and links; both sides are read once more at the end of an interrupted
    ///   import, else the new store only.
    public func run() throws -> ImportReport {
        try source.check()
        let identity = try source.identity()
        let database = try SQLiteDatabase(source.path)
        let catalog = try SourceCatalog(database)
        let (builder, plain) = try fit(database, catalog)
        let fresh = WorkFolder.State(source: identity, model: try plain.resumption)
        var state = fresh
        var isResumed = false
        let lock = try folder.lock()
        defer { withExtendedLifetime(lock) {} }
        if let earlier = try folder.state(), earlier.source == fresh.source, earlier.model == fresh.model {
            state = earlier
            isResumed = true
        } else {
            try folder.begin(state)
        }
        while true {
            do {
                return try run(state, isResumed: isResumed, database, catalog, builder, plain)
            } catch let broken as BrokenConstraint {
                // The objects are worth more than the constraint: it is left out, and named.
                state.broken.append(
                    .init(
                        entity: broken.entity, properties: broken.properties,
                        objects: [Int64(broken.holder), broken.object]))
                isResumed = false
                try folder.begin(state)
            }
        }
    }

    private func run(
        _ state: WorkFolder.State, isResumed: Bool, _ database: SQLiteDatabase, _ catalog: SourceCatalog,
        _ given: MappingBuilder, _ plain: Schema
    ) throws -> ImportReport {
        // A hierarchy is in one table, as the objects of model classes are that inherit from each other.
        let target = try plain.leavingOut(state.broken.map { ($0.entity, $0.properties) }).tablesWithoutClasses()
        let container = try makeContainer(for: target)
        defer { try? container.close() }
        let store = container.rowStore
        var builder = given
        let mapping = try builder.mapping(to: store.storage)
        let isContinued = store.log.snapshot().hasObjects(store.storage)

        let findings = try FindingLog(folder.findingsPath)
        let external = source.externalFolder
        var counts = ProgressCount(progress)
        let writing = RowImport(
            store, database, mapping, externalFolder: external, findings: isContinued ? nil : findings
        ) { counts.add($0, $1, $2) }
        for table in mapping.tables { try writing.run(table) }
        for links in mapping.links { try writing.run(links) }

        let comparison = StoreComparison(store: store)
        var tallies = writing.tallies
        if isContinued {
            tallies = try comparison.source(database, mapping, externalFolder: external, findings: findings) {
                counts.add(.comparing, $0, $1)
            }
        }
        let written = try comparison.destination(mapping) { counts.add(.comparing, $0, $1) }
        try Self.note(mapping, state, findings)
        for place in builder.unclaimed { try place.note(database, builder.catalog, findings) }
        try findings.finish()
        try container.close()
        guard try source.identity() == state.source else {
            throw ImportError(
                .changed,
                "\(source.path) was written to during the import. Close the program that does, and import again.",
                path: source.path)
        }
        try folder.finish(hasFindings: !findings.isEmpty)
        return ImportReport(
            storeUUID: catalog.storeUUID,
            entities: Self.entities(tallies, written, mapping),
            findings: findings.all, notes: mapping.notes + plain.unsearchableTexts,
            skippedEntities: catalog.ownEntities,
            findingsPath: findings.isEmpty ? nil : folder.finalFindingsPath, isResumed: isResumed)
    }

    private func makeContainer(for schema: Schema) throws -> ModelContainer {
        var configuration = ModelConfiguration(url: URL(filePath: folder.storePath))
        configuration.options.memoryBudget = Self.memoryBudget
        configuration.options.durability = .async
        configuration.options.history = .off
        configuration.options.rewritesWhenIdle = false
        return try ModelContainer(for: schema, configurations: configuration)
    }

    /// Records findings that are of no row.
    private static func note(
        _ mapping: StoreMapping, _ state: WorkFolder.State, _ findings: FindingLog
    ) throws(ImportError) {
        for (entity, property, _) in mapping.missing {
            try findings.note(.unknownRelationship, entity, property, 0, column: "", .value(.null))
        }
        for broken in state.broken {
            let properties = broken.properties.joined(separator: ", ")
            for object in broken.objects {
                try findings.note(.duplicateValues, broken.entity, properties, object, column: "", .value(.null))
            }
        }
    }

    private static func entities(
        _ source: SourceTallies, _ written: SourceTallies, _ mapping: StoreMapping
    ) -> [ImportReport.Entity] {
        mapping.entities.sorted { $0.ordinal < $1.ordinal }.map { entity in
            let (old, new) = (source.entities[entity.ordinal], written.entities[entity.ordinal])
            var columns: [ImportReport.Column] = []
            for (slot, property) in zip(entity.slots, entity.properties) {
                if let links = mapping.links.first(where: { $0.entity == entity.name && $0.name == property.name }) {
                    columns.append(
                        .init(
                            name: property.name, source: .init(source.links[links.position] ?? ColumnTally()),
                            destination: .init(written.links[links.position] ?? ColumnTally())))
                } else if case .toMany = entity.storage.slots[slot] {
                    continue
                } else {
                    columns.append(
                        .init(
                            name: property.name, source: .init(old.columns[slot]), destination: .init(new.columns[slot])
                        ))
                }
            }
            return ImportReport.Entity(
                name: entity.name, sourceCount: old.objectCount, destinationCount: new.objectCount, columns: columns)
        }
    }
}

/// Sums up batches for the progress.
private struct ProgressCount {
    private let report: (@Sendable (ImportProgress) -> Void)?
    private var phase = ImportProgress.Phase.objects
    private var count = 0
    private var untold = 0
    private static let step = 1_000

    init(_ report: (@Sendable (ImportProgress) -> Void)?) { self.report = report }

    mutating func add(_ phase: ImportProgress.Phase, _ table: String, _ more: Int) {
        guard let report else { return }
        if phase != self.phase {
            self.phase = phase
            count = 0
        }
        count += more
        untold += more
        guard untold >= Self.step || more != 1 else { return }
        untold = 0
        report(ImportProgress(phase: phase, table: table, count: count))
    }
}

extension ImportReport.Side {
    fileprivate init(_ tally: ColumnTally) {
        let digits = String(tally.hash, radix: 16)
        self.init(
            count: tally.count, byteCount: tally.byteCount,
            hash: String(repeating: "0", count: 16 - digits.count) + digits)
    }
}

extension Snapshot {
    /// Whether any object or link was written.
    fileprivate func hasObjects(_ storage: SchemaStorage) -> Bool {
        storage.entities.contains { nextID(of: $0.table) > 1 }
            || storage.map.links.contains { nextID(of: TableID(rawValue: $0.table)) > 1 }
    }
}

extension Schema {
    /// A note on each text of a subentity that has an index of its words in the model, and none in the new store.
    fileprivate var unsearchableTexts: [String] {
        entities.filter { $0.superentityName != nil }.flatMap { entity in
            let ticked = entity.storedProperties.filter { $0.asAttribute?.options.contains(.spotlight) == true }
            let texts = ticked.map { [$0.name] } + entity.indexedTexts.map(\.properties)
            return texts.map {
                "\(entity.name).\($0.joined(separator: ", ")): its words are not indexed, because a subentity cannot have a text index"
            }
        }
    }

    /// The part of the model that an unfinished import goes on under.
    ///
    /// Tables alone do not tell to which subentity a relationship leads.
    fileprivate var resumption: String {
        get throws {
            let tables = "\(try tablesWithoutClasses().fingerprint)"
            return entities.contains { $0.superentityName != nil } ? "\(fingerprint) \(tables)" : tables
        }
    }

    /// An independent copy that knows no classes.
    fileprivate func withoutClasses() throws -> Schema {
        let copy = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(self))
        try copy.validate()
        return copy
    }

    /// An independent copy without some uniqueness constraints.
    fileprivate func leavingOut(_ constraints: [(entity: String, properties: [String])]) throws -> Schema {
        let copy = try withoutClasses()
        for (name, properties) in constraints {
            // A subentity has the constraint of the entity that declares it.
            for entity in copy.entities where entity.isOrInherits(from: name) || entity.isAncestor(of: name, in: copy) {
                entity.uniquenessConstraints.removeAll { Set($0) == Set(properties) }
                guard properties.count == 1 else { continue }
                for property in entity.storedProperties where property.name == properties[0] {
                    property.asAttribute?.options.removeAll { $0 == .unique }
                    property.asRelationship?.options.removeAll { $0 == .unique }
                }
            }
        }
        return copy
    }
}

extension Schema.Entity {
    fileprivate func isOrInherits(from name: String) -> Bool {
        self.name == name || superentity?.isOrInherits(from: name) == true
    }

    fileprivate func isAncestor(of name: String, in schema: Schema) -> Bool {
        schema.entitiesByName[name]?.isOrInherits(from: self.name) == true
    }
}
#endif
