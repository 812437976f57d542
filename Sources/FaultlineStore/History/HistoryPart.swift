package import FaultlineLog

/// One checked record of the history: a part of a transaction's changes.
package struct HistoryPart {
    /// The number of the transaction in its store.
    package private(set) var sequence: UInt64 = 0
    /// Microseconds since 1970.
    package private(set) var microseconds: UInt64 = 0
    /// The identifier of the process that wrote it; 0 in later parts.
    package private(set) var process: UInt64 = 0
    /// Nil also in later parts.
    package private(set) var author: String?
    package private(set) var isFirst = false
    package private(set) var isLast = false
    private var changesOffset = 0

    /// A run of objects with the same change.
    package struct Change {
        package let operation: HistoryOperation
        package let table: TableID
        /// The layout whose slots the mask and the tombstone refer to.
        package let layout: UInt16
        package let numbers: Range<RecordID>
        /// The slots of the preserved values, and a row of the layout with these, valid during the call.
        package let tombstone: (slots: [Int], row: UnsafeRawBufferPointer)?
    }

    /// The reason why bytes are no part of a history.
    struct Fault: Error {
        let text: String
    }

    /// Reads the beginning of a part.
    init(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        var reader = HistoryReader(bytes)
        guard let version = reader.readByte(), let flags = reader.readByte() else { throw Fault(text: "ends early") }
        guard version == HistoryFormat.version, flags & ~(HistoryFormat.isFirst | HistoryFormat.isLast) == 0 else {
            throw Fault(text: "has a form that this version does not know")
        }
        isFirst = flags & HistoryFormat.isFirst != 0
        isLast = flags & HistoryFormat.isLast != 0
        guard let sequence = reader.readNumber(), let microseconds = reader.readNumber(),
            microseconds <= UInt64(Int64.max) / 1_000
        else { throw Fault(text: "has no time") }
        self.sequence = sequence
        self.microseconds = microseconds
        if isFirst {
            guard let process = reader.readNumber(), let length = reader.readNumber(),
                length <= UInt64(Limits.authorByteCountMax) + 1
            else { throw Fault(text: "has no author") }
            self.process = process
            if length > 0 {
                guard let text = reader.readBytes(Int(length) - 1) else { throw Fault(text: "ends in its author") }
                author = String(decoding: text, as: UTF8.self)
            }
        }
        changesOffset = reader.offset
    }

    /// Calls `body` with each change of the part with those `bytes`.
    func forEachChange(_ bytes: UnsafeRawBufferPointer, _ body: (Change) throws -> Void) throws {
        var reader = HistoryReader(bytes, from: changesOffset)
        var table: UInt16 = 0
        var layout: UInt16 = 0
        var previousEnd: RecordID = 0
        while !reader.isAtEnd {
            guard let byte = reader.readByte(), let tag = HistoryFormat.Tag(rawValue: byte) else {
                throw Fault(text: "has a change of a kind that this version does not know")
            }
            if tag == .entity {
                guard let number = reader.readNumber(), let layoutNumber = reader.readNumber(),
                    number >= UInt64(TableID.firstEntity), number <= UInt64(UInt16.max),
                    layoutNumber <= UInt64(UInt16.max)
                else { throw Fault(text: "names no entity") }
                table = UInt16(number)
                layout = UInt16(layoutNumber)
                previousEnd = 0
                continue
            }
            guard table != 0 else { throw Fault(text: "has a change of no entity") }
            let operation = try Self.operation(tag, &reader)
            let numbers = try Self.numbers(tag, after: previousEnd, &reader)
            previousEnd = numbers.upperBound
            try body(
                Change(
                    operation: operation, table: TableID(rawValue: table), layout: layout, numbers: numbers,
                    tombstone: tag == .tombstone ? try Self.tombstone(&reader) : nil))
        }
    }

    private static func tombstone(
        _ reader: inout HistoryReader
    ) throws(Fault) -> (slots: [Int], row: UnsafeRawBufferPointer) {
        let early = Fault(text: "ends in a tombstone")
        guard let slotCount = reader.readNumber(), slotCount <= UInt64(reader.remainingByteCount) else { throw early }
        var slots: [Int] = []
        for _ in 0..<slotCount {
            guard let slot = reader.readNumber(), slot <= UInt64(UInt16.max) else { throw early }
            slots.append(Int(slot))
        }
        guard let count = reader.readNumber(), count <= UInt64(reader.remainingByteCount),
            let row = reader.readBytes(Int(count))
        else { throw early }
        return (slots, row)
    }

    private static func operation(
        _ tag: HistoryFormat.Tag, _ reader: inout HistoryReader
    ) throws(Fault) -> HistoryOperation {
        switch tag {
        case .entity, .deletes, .tombstone: return .delete
        case .inserts: return .insert
        case .updates:
            guard let mask = reader.readNumber(), mask != 0 else { throw Fault(text: "has an update of nothing") }
            return .update(mask: mask)
        }
    }

    private static func numbers(
        _ tag: HistoryFormat.Tag, after previousEnd: RecordID, _ reader: inout HistoryReader
    ) throws(Fault) -> Range<RecordID> {
        guard let step = reader.readNumber(), let count = tag == .tombstone ? 0 : reader.readNumber(),
            count < Limits.recordIDMax
        else { throw Fault(text: "ends in a run") }
        let (first, overflow) = Int64(previousEnd).addingReportingOverflow(HistoryFormat.unfolded(step))
        guard !overflow, first > 0, UInt64(first) <= Limits.recordIDMax - count else {
            throw Fault(text: "has numbers that no object can have")
        }
        return UInt64(first)..<UInt64(first) + count + 1
    }
}
