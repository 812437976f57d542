public import Foundation
package import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// The unchanged objects that migrations could not convert: `MigrationOptions.onFailure`.
///
/// It shows one state of the store, without objects of a migration that has not switched. Large values of objects that
/// are removed later can no longer be read. Memory does not grow with the number of objects, nor with the size of their
/// values and collections.
public struct Quarantine: Sendable {
    private let log: Log
    private let snapshot: Snapshot
    /// The last visible record.
    private let last: RecordID

    /// Opens the quarantine in the newest state.
    package init(_ log: Log) throws {
        self.log = log
        snapshot = log.snapshot()
        let migration = try StoredCatalog.entry(
            MigrationRecord.self, StoredCatalog.RecordNumber.migration, in: snapshot)
        last = migration?.firstQuarantine.map { $0 - 1 } ?? Limits.recordIDMax
    }

    /// Whether there are no objects.
    ///
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: O(1): reads the records before the first object.
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

    /// Calls `body` with each object, in the order in which they were added.
    ///
    /// - Throws: `StorageError` if the store cannot be read; the error of `body`.
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
    /// - Complexity: O(1): reads one record.
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
    /// - Throws: `StorageError` if the store cannot be read; the error of `body`.
    /// - Complexity: O(n) for n records of the quarantine; memory for one.
    public func enumerateRelated(_ body: (QuarantinedRelation) throws -> Void) throws {
        try translating {
            try QuarantineEntry.forEach(in: snapshot, through: last) { _, entry in
                if case .numbers(let numbers) = entry { try body(QuarantinedRelation(numbers)) }
                return true
            }
        }
    }

    /// Reads bytes of a value, from the row or outside.
    ///
    /// Only the chunks of 64 KiB of a large value that the range touches are read and checked.
    ///
    /// - Parameters:
    ///   - name: The attribute.
    ///   - object: The object.
    ///   - range: The bytes, which must lie within the value; nil for all.
    /// - Returns: The bytes; nil if the object has no value of that name, or it is no Data, text or URL.
    /// - Throws: `StorageError` if the value is gone or damaged.
    /// - Complexity: O(n) for n bytes of the range, in whole chunks of 64 KiB of a large value.
    public func bytes(of name: String, in object: QuarantinedObject, range: Range<Int>? = nil) throws -> Data? {
        switch object[name] {
        case .data(let data)?: data.part(range)
        case .string(let text)?, .url(let text)?: Data(text.utf8).part(range)
        case .large(let byteCount)?: try object.blob(name).map { try bytes(of: $0, range.within(byteCount)) }
        default: nil
        }
    }

    private func bytes(of blob: UInt64, _ range: Range<Int>) throws -> Data {
        var data = Data(count: range.count)
        try translating {
            try data.withUnsafeMutableBytes {
                try snapshot.readBlob(
                    blob, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), into: $0)
            }
        }
        return data
    }

    /// Removes one object for good: `remove(_:)` of several.
    ///
    /// - Throws: `StorageError` if the store cannot be written, or is being migrated.
    /// - Complexity: As `remove(_:)` of several: remove many with one call.
    public func remove(_ object: QuarantinedObject) throws { try remove([object]) }

    /// Removes objects, with their large values, for good; missing ones are ignored.
    ///
    /// Durability: they are removed together, and as durably as a save.
    ///
    /// - Throws: `StorageError` if the store cannot be written, or is being migrated.
    /// - Complexity: O(n) for the n records of the quarantine from the first of the objects on, so that many are best
    ///   removed with one call.
    public func remove(_ objects: [QuarantinedObject]) throws {
        guard let first = objects.map(\.id).min() else { return }
        let owners = Set(objects.map(\.id))
        try translating {
            _ = try log.write(author: nil) { transaction in
                guard try transaction.location(of: StoredCatalog.RecordNumber.migration, in: .catalog).isAbsent else {
                    throw StoreError(
                        .outdated,
                        "The store is being migrated: nothing is removed from its quarantine until that is done."
                    )
                }
                try QuarantineEntry.forEach(in: self.snapshot, from: first, through: self.last) { number, entry in
                    guard case .numbers(let numbers) = entry, owners.contains(numbers.owner),
                        try !transaction.location(of: number, in: .quarantine).isAbsent
                    else { return true }
                    try transaction.delete(number, in: .quarantine)
                    return true
                }
                for object in objects where try !transaction.location(of: object.id, in: .quarantine).isAbsent {
                    for blob in object.blobs where try !transaction.location(of: blob, in: .blobs).isAbsent {
                        try transaction.deleteBlob(blob)
                    }
                    try transaction.delete(object.id, in: .quarantine)
                }
            }
        }
    }

    private func translating<R>(_ body: () throws -> R) throws -> R { try StorageError.translating(body) }
}

extension Data {
    /// The bytes of a range of a value; without a range all of them.
    fileprivate func part(_ range: Range<Int>?) -> Data {
        let range = range.within(count)
        return subdata(in: startIndex + range.lowerBound..<startIndex + range.upperBound)
    }
}

extension Range<Int>? {
    /// The range, or the whole of a value of `byteCount` bytes.
    fileprivate func within(_ byteCount: Int) -> Range<Int> {
        guard let range = self else { return 0..<byteCount }
        precondition(
            range.lowerBound >= 0 && range.upperBound <= byteCount, "A range of a value lies within its bytes.")
        return range
    }
}
