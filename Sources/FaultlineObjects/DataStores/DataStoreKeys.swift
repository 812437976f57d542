internal import FaultlineDisk
internal import FaultlineLog
internal import Synchronization

/// The primary keys of the objects of one data store, and the numbers that stand for them in this process.
///
/// A data store chooses keys of any kind, and an identifier of this library has a number; so each key gets the next
/// number of its entity when it is first met, and keeps it. Keys that the store names are kept as long as the process.
/// Those of decoded identifiers, which may come from anyone, are kept until `strangerCountMax` later ones were met.
package final class DataStoreKeys: Sendable {
    /// The identifier of the data store.
    let identifier: String
    /// The store in identifiers of its objects.
    package let storeID: (UInt64, UInt64)
    private let entities = Guarded<[String: Entity]>([:])

    /// The keys of one entity.
    private struct Entity {
        var numbers: [String: RecordID] = [:]
        var keys: [RecordID: String] = [:]
        var last: RecordID = 0
        /// Keys that the data store has not named, the oldest first.
        var strangers: [RecordID] = []
        var forgotten = 0
        /// Numbers whose keys stay.
        var kept: Set<RecordID> = []

        mutating func takeNumber() -> RecordID {
            last += 1
            return last
        }

        mutating func addStranger(_ number: RecordID) {
            strangers.append(number)
            while strangers.count - forgotten > DataStoreKeys.strangerCountMax {
                let oldest = strangers[forgotten]
                forgotten += 1
                if !kept.contains(oldest), let key = keys.removeValue(forKey: oldest) { numbers[key] = nil }
            }
            guard forgotten > DataStoreKeys.strangerCountMax else { return }
            strangers.removeFirst(forgotten)
            forgotten = 0
        }
    }

    /// The most keys of an entity that came from decoded identifiers and that no store has named.
    static let strangerCountMax = 65_536
    /// The greatest length of a key, and of a store's identifier, in bytes of UTF-8.
    static let keyByteCountMax = 1_024

    private struct Known {
        var byIdentifier: [String: DataStoreKeys] = [:]
        var byStoreID: [UInt64: DataStoreKeys] = [:]
    }

    private static let known = Guarded(Known())
    /// Whether the process has any, so that others pay nothing.
    private static let areKnown = Atomic<Bool>(false)

    private init(_ identifier: String, storeID: (UInt64, UInt64)) {
        self.identifier = identifier
        self.storeID = storeID
    }

    /// The store of the identifiers that a data store's objects have, if they are those of a store of this library.
    package static func ownStoreID(_ identifier: String) -> (UInt64, UInt64)? { PersistentIdentifier.store(identifier) }

    /// The keys of a data store that the process has met; nil for any other.
    static func find(_ identifier: String) -> DataStoreKeys? {
        guard areKnown.load(ordering: .acquiring) else { return nil }
        return known.withLock { $0.byIdentifier[identifier] }
    }

    /// The same, by the store in an identifier.
    static func find(_ storeID: (UInt64, UInt64)) -> DataStoreKeys? {
        guard areKnown.load(ordering: .acquiring) else { return nil }
        return known.withLock { known in
            known.byStoreID[storeID.0].flatMap { $0.storeID == storeID ? $0 : nil }
        }
    }

    /// The keys of a data store; the first call for an identifier makes them.
    package static func of(_ identifier: String) -> DataStoreKeys {
        known.withLock { known in
            if let found = known.byIdentifier[identifier] { return found }
            var random = SystemRandomNumberGenerator()
            let made = DataStoreKeys(identifier, storeID: (random.next(), random.next()))
            known.byIdentifier[identifier] = made
            known.byStoreID[made.storeID.0] = made
            areKnown.store(true, ordering: .releasing)
            return made
        }
    }

    /// The number of a key.
    ///
    /// - Parameters:
    ///   - key: The text of the primary key.
    ///   - entityName: The entity.
    ///   - isOfStore: Whether the data store names it, so that it stays.
    /// - Returns: The number, the same for each call with the key.
    func number(of key: String, _ entityName: String, isOfStore: Bool) -> RecordID {
        entities.withLock { entities in
            var entity = entities.removeValue(forKey: entityName) ?? Entity()
            defer { entities[entityName] = entity }
            if let number = entity.numbers[key] {
                if isOfStore { entity.kept.insert(number) }
                return number
            }
            let number = entity.takeNumber()
            entity.numbers[key] = number
            entity.keys[number] = key
            if isOfStore { entity.kept.insert(number) } else { entity.addStranger(number) }
            return number
        }
    }

    /// The key of a number; nil if it was forgotten, or never given.
    func key(of number: RecordID, _ entityName: String) -> String? {
        entities.withLock { $0[entityName]?.keys[number] }
    }

    /// Keeps the key of a number as long as the process, because an object has it.
    func keep(_ number: RecordID, _ entityName: String) {
        entities.withLock { _ = $0[entityName]?.kept.insert(number) }
    }

    /// How many keys of an entity are known: tests compare it with a bound.
    package func keyCount(_ entityName: String) -> Int { entities.withLock { $0[entityName]?.keys.count ?? 0 } }
}
