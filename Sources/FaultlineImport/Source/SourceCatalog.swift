#if Import
internal import FaultlineModel
internal import Foundation

/// Core Data's tables about tables in a store: its entities, their version hashes, and the columns of all tables.
struct SourceCatalog {
    struct Column {
        let name: String
        /// The declared type, in capitals.
        let type: String
    }

    struct Entity {
        let name: String
        let number: Int64
        /// The entity that it inherits from; 0 for none.
        let parent: Int64
        /// The name in the catalog, which a migration within the file may have left as it was.
        let tableName: String
    }

    /// Entities of Core Data's own: the history, and the state of synchronization, have numbers from here on.
    static let firstOwnNumber: Int64 = 16_000
    private static let entityCountMax = 10_000
    private static let metadataByteCountMax = 16 << 20

    /// The entities of the model, by name.
    private(set) var entities: [String: Entity] = [:]
    /// The names of Core Data's own entities.
    private(set) var ownEntities: [String] = []
    /// The columns of each table, by its name, in their order.
    private(set) var tables: [String: [Column]] = [:]
    /// The version hash of each entity, in hexadecimal.
    private(set) var hashes: [String: String] = [:]
    /// The store's UUID; empty if it has none.
    private(set) var storeUUID = ""
    private let database: SQLiteDatabase

    /// Reads the catalog.
    ///
    /// - Throws: `notAStore` for a database that Core Data has not made.
    init(_ database: SQLiteDatabase) throws(ImportError) {
        self.database = database
        try readTables()
        for table in ["Z_PRIMARYKEY", "Z_METADATA"] where tables[table] == nil {
            throw ImportError(
                .notAStore,
                "\(database.path) has no table \(table): it is an SQLite database that neither Core Data nor SwiftData has made.",
                path: database.path)
        }
        try readEntities()
        try readMetadata()
    }

    /// A name in double quotes, for SQL.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    private mutating func readTables() throws(ImportError) {
        // Views and virtual tables run code; a store has none.
        let query = try database.query("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        while try query.next() {
            guard let name = query.text(0) else { continue }
            let columns = try database.query("PRAGMA table_info(\(Self.quoted(name)))")
            while try columns.next() {
                guard let column = columns.text(1) else { continue }
                tables[name, default: []].append(Column(name: column, type: (columns.text(2) ?? "").uppercased()))
            }
        }
    }

    private mutating func readEntities() throws(ImportError) {
        let query = try database.query("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        var numbers: Set<Int64> = []
        while try query.next() {
            guard let number = query.integer(0), let name = query.text(1), !name.isEmpty else {
                throw ImportError(
                    .damaged, "\(database.path) has a line without name or number in Z_PRIMARYKEY.", path: database.path
                )
            }
            guard number > 0, numbers.insert(number).inserted, entities[name] == nil else {
                throw ImportError(
                    .damaged,
                    "\(database.path) has two entities of one name or number in Z_PRIMARYKEY, or one whose number is not above 0: \(name.prefix(64)), \(number).",
                    path: database.path)
            }
            guard number < Self.firstOwnNumber else {
                ownEntities.append(name)
                continue
            }
            entities[name] = Entity(name: name, number: number, parent: query.integer(2) ?? 0, tableName: name)
            guard entities.count <= Self.entityCountMax else {
                throw ImportError(
                    .damaged, "\(database.path) has more than \(Self.entityCountMax) entities.", path: database.path)
            }
        }
    }

    private mutating func readMetadata() throws(ImportError) {
        let query = try database.query(
            "SELECT Z_UUID, Z_PLIST FROM Z_METADATA WHERE length(Z_PLIST) <= \(Self.metadataByteCountMax) LIMIT 1")
        guard try query.next() else { return }
        storeUUID = query.text(0) ?? ""
        guard case .blob(let bytes) = query.value(1),
            let plist = try? PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil),
            let metadata = plist as? [String: Any],
            let hashes = metadata["NSStoreModelVersionHashes"] as? [String: Any]
        else { return }
        self.hashes = hashes.compactMapValues { value in
            (value as? Data).map { $0.map { byte in Self.hexadecimal(byte) }.joined() }
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }

    /// Gives entities that were renamed by a migration within the file their new names.
    ///
    /// Such a migration may leave the old name in Z_PRIMARYKEY; the version hashes have the new one.
    mutating func settleNames(_ schema: Schema) {
        func parent(_ entity: Entity) -> String? {
            entities.values.first { $0.number == entity.parent }?.name
        }
        for model in schema.entities where entities[model.name] == nil && hashes[model.name] != nil {
            let old = entities.values.filter {
                schema.entitiesByName[$0.name] == nil && hashes[$0.name] == nil && parent($0) == model.superentityName
            }
            let named = old.filter { $0.name == model.originalName }
            guard let entity = named.first ?? (old.count == 1 ? old[0] : nil) else { continue }
            entities[entity.name] = nil
            entities[model.name] = Entity(
                name: model.name, number: entity.number, parent: entity.parent, tableName: entity.tableName)
        }
    }

    /// The entity at the top of an entity's line of ancestors.
    ///
    /// - Throws: `damaged` if the line has no end.
    func root(of entity: Entity) throws(ImportError) -> Entity {
        var top = entity
        for _ in 0...entities.count {
            guard top.parent != 0 else { return top }
            guard let parent = entities.values.first(where: { $0.number == top.parent }) else { break }
            top = parent
        }
        throw ImportError(
            .damaged,
            "\(database.path) says in Z_PRIMARYKEY that \(entity.name) inherits from entity \(top.parent), which leads to no entity.",
            path: database.path, entity: entity.name)
    }

    /// The numbers of the entities that inherit from an entity.
    func descendants(of number: Int64) -> Set<Int64> {
        var found: Set<Int64> = []
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for entity in entities.values where entity.parent == number || found.contains(entity.parent) {
                if found.insert(entity.number).inserted { isGrowing = true }
            }
        }
        return found
    }

    /// The numbers of an entity, and of those that inherit from it.
    func family(of entity: Entity) -> Set<Int64> { descendants(of: entity.number).union([entity.number]) }

    /// The version hash of an entity for messages.
    func hashText(of entity: String) -> String { hashes[entity].map { "version hash \($0)" } ?? "no version hash" }
}
#endif
