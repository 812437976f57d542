public import Foundation
package import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// The objects that migrations could not convert, as they were: `MigrationOptions.onFailure`.
///
/// One state of the store: those of a migration that has not switched are not shown, and of those that are removed
/// later large values cannot be read any more. Memory does not follow the number of objects, nor the size of their
/// values and collections.
public struct Quarantine: Sendable {
    private let log: Log
    private let snapshot: Snapshot
    /// The last record that is shown.
    private let last: RecordID

    /// Looks at the newest state.
    package init(_ log: Log) throws {
        self.log = log
        snapshot = log.snapshot()
        let migration = try StoredCatalog.entry(
            MigrationRecord.self, StoredCatalog.RecordNumber.migration, in: snapshot)
        last = migration?.firstQuarantine.map { $0 - 1 } ?? Limits.recordIDMax
    }

    /// Whether there is no object.
    public var isEmpty: Bool {
        get throws {
            var isEmpty = true
            try translating {
                try QuarantineEntry.forEach(in: snapshot, through: last) { _, entry in
                    if case .object = entry { isEmpty = false }
                    return isEmpty
                }
            }
            return isEmpty
        }
    }

    /// Calls `body` with each object, in the order in which they were put there.
    ///
    /// - Throws: `StorageError` if the store cannot be read; what `body` throws.
    /// - Complexity: O(n) for n objects; memory for one.
    public func enumerate(_ body: (QuarantinedObject) throws -> Void) throws {
        try translating {
            try QuarantineEntry.forEach(in: snapshot, through: last) { number, entry in
                if case .object(let row) = entry { try body(QuarantinedObject(number, row)) }
                return true
            }
        }
    }

    /// The object of an identifier; nil if it was removed.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    public func object(_ id: UInt64) throws -> QuarantinedObject? {
        guard id > 0, id <= last else { return nil }
        var found: QuarantinedObject?
        try translating {
            try QuarantineEntry.forEach(in: snapshot, from: id, through: id) { number, entry in
                if case .object(let row) = entry { found = QuarantinedObject(number, row) }
                return false
            }
        }
        return found
    }

    /// Calls `body` with the relationships of all objects: members of their collections, and the objects that referred
    /// to them, some thousands at a time.
    ///
    /// - Throws: `StorageError` if the store cannot be read; what `body` throws.
    public func enumerateRelated(_ body: (QuarantinedRelation) throws -> Void) throws {
        try translating {
            try QuarantineEntry.forEach(in: snapshot, through: last) { _, entry in
                if case .numbers(let numbers) = entry { try body(QuarantinedRelation(numbers)) }
                return true
            }
        }
    }

    /// Reads bytes of a value, wherever it lies.
    ///
    /// Of a value out of the row only the pieces of 64 KiB that the range touches are read and checked.
    ///
    /// - Parameters:
    ///   - name: The attribute.
    ///   - object: The object.
    ///   - range: The bytes; nil for all.
    /// - Returns: The bytes; nil where the object has no value of that name, or it is no Data, text or URL.
    /// - Throws: `StorageError` if the value is gone or damaged.
    public func bytes(of name: String, in object: QuarantinedObject, range: Range<Int>? = nil) throws -> Data? {
        let whole: Data
        switch object[name] {
        case .data(let data)?: whole = data
        case .string(let text)?, .url(let text)?: whole = Data(text.utf8)
        case .large(let byteCount)?:
            guard let blob = object.blob(name) else { return nil }
            let range = range ?? 0..<byteCount
            precondition(
                range.lowerBound >= 0 && range.upperBound <= byteCount, "A range of a value lies within its bytes.")
            var data = Data(count: range.count)
            try translating {
                try data.withUnsafeMutableBytes {
                    try snapshot.readBlob(
                        blob, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), into: $0)
                }
            }
            return data
        default: return nil
        }
        guard let range else { return whole }
        precondition(
            range.lowerBound >= 0 && range.upperBound <= whole.count, "A range of a value lies within its bytes.")
        return whole.subdata(in: whole.startIndex + range.lowerBound..<whole.startIndex + range.upperBound)
    }

    /// Removes an object that is settled, with its large values, for good; one that is gone is left alone.
    ///
    /// Durability: it is gone as a save is saved.
    ///
    /// - Throws: `StorageError` if the store cannot be written, or is being migrated.
    public func remove(_ object: QuarantinedObject) throws {
        try translating {
            _ = try log.write(author: nil) { transaction in
                guard try transaction.location(of: StoredCatalog.RecordNumber.migration, in: .catalog).isAbsent else {
                    throw StoreError(
                        .outdated,
                        "The store is being migrated: nothing is removed from its quarantine until that is done."
                    )
                }
                guard try !transaction.location(of: object.id, in: .quarantine).isAbsent else { return }
                try QuarantineEntry.forEach(in: self.snapshot, from: object.id, through: self.last) { number, entry in
                    if case .numbers(let numbers) = entry, numbers.owner == object.id {
                        try transaction.delete(number, in: .quarantine)
                    }
                    return true
                }
                for blob in object.blobs where try !transaction.location(of: blob, in: .blobs).isAbsent {
                    try transaction.deleteBlob(blob)
                }
                try transaction.delete(object.id, in: .quarantine)
            }
        }
    }

    private func translating<R>(_ body: () throws -> R) throws -> R { try StorageError.translating(body) }
}

/// An object that a migration could not convert, with the values that it had in the version before.
public struct QuarantinedObject: Sendable {
    /// Its identifier in the quarantine, which no other object gets.
    public let id: UInt64
    /// The version that the stage read which could not convert it.
    public let fromVersion: String
    /// The version that the stage leads to.
    public let toVersion: String
    /// Its entity in the version before.
    public let entityName: String
    /// Its number there, as `PersistentIdentifier` shows it.
    public let number: UInt64
    /// What it contradicts.
    public let rule: MigrationReport.Failure.Rule
    /// The property that it is about, if it is about one.
    public let propertyName: String?
    /// What was thrown, or is wrong, in words.
    public let reason: String
    private let values: [QuarantinedValueRecord]

    init(_ id: UInt64, _ row: QuarantinedRow) {
        self.id = id
        fromVersion = row.from
        toVersion = row.to
        entityName = row.entity
        number = row.object
        rule = MigrationReport.Failure.Rule(rawValue: row.rule) ?? .code
        propertyName = row.property
        reason = row.reason
        values = row.values
    }

    /// Its attributes and relationships to one, in the order of the class.
    public var propertyNames: [String] { values.map(\.name) }

    /// A value; nil for nil, and where there is no property of that name.
    public subscript(name: String) -> QuarantinedValue? { values.first { $0.name == name }?.value }

    /// The blob that has a value, where it lies out of the row.
    func blob(_ name: String) -> UInt64? { values.first { $0.name == name }?.blob }

    /// Blobs of all values that lie out of the row.
    package var blobs: [UInt64] { values.compactMap(\.blob) }
}

/// Objects that an object in the quarantine had relationships with, by their numbers in the version before.
public struct QuarantinedRelation: Sendable {
    /// The identifier of the object in the quarantine.
    public let id: UInt64
    /// Whether they referred to it; else they were members of its collection.
    public let refersToObject: Bool
    /// The entity of the others.
    public let entityName: String
    /// The property: theirs where they referred to the object, else the object's.
    public let propertyName: String
    /// The others: some of them, where there are thousands.
    public let numbers: [UInt64]

    init(_ numbers: QuarantinedNumbers) {
        id = numbers.owner
        refersToObject = numbers.refer
        entityName = numbers.entity
        propertyName = numbers.name
        self.numbers = numbers.numbers
    }
}
