package import FaultlineLog
internal import FaultlineModel

/// An index in which any number of objects may have a key, and the way in which keys are derived from rows:
/// docs/FileFormat.md 13.5.
///
/// Every object has one entry. Its key is derived only from its row's stored values, so that a replay derives the same:
/// the keys of the attributes, concatenated. A row is *set aside* if its key is undefined: it is older than a column,
/// has a value outside of the row, or would have a key that is too long. The key of such a row is one byte above all
/// other keys. Every search reads those rows too.
package struct SecondaryIndex: Sendable, Equatable {
    /// The largest size of a key; objects with a longer one are set aside.
    package static let keyByteCountMax = 1_024
    /// The first and only byte of the key of an object that is set aside: attribute keys begin with 0 or 1.
    package static let asideMark: UInt8 = 2

    package let definition: IndexDefinition
    /// Slots of the layout in force, in key order.
    package let slots: [Int]
    /// The slots as a mask.
    package let mask: UInt64
    private let parts: [Part]

    /// An attribute of the key, and the values that replace it in rows of older layouts.
    private struct Part: Sendable, Equatable {
        let column: StoredColumn
        let kind: ColumnKind
        let isOptional: Bool
    }

    init(definition: IndexDefinition, slots: [Int], columns: [StoredColumn], layout: RowLayout) {
        self.definition = definition
        self.slots = slots
        mask = slots.reduce(0) { $0 | SlotMask.bit($1) }
        parts = slots.map { slot in
            let column = layout.columns[slot]
            return Part(
                column: columns[slot], kind: column.kind, isOptional: column.nilBit >= 0 || column.kind == .toOne)
        }
    }

    /// Derives the key of a row.
    ///
    /// - Parameters:
    ///   - row: The row, viewed by the layout that it was written in.
    ///   - layout: That layout.
    ///   - key: Gets the key.
    package func makeKey(of row: RowView, layout: RowLayout, into key: inout KeyWriter) {
        key.removeAll()
        for part in parts {
            guard let slot = layout.slot(ofColumn: part.column.number),
                layout.columns[slot].kind.hasKeys(like: part.kind),
                part.isOptional || !row.isNil(slot),
                !row.isNil(slot) || part.column.missingDefault(ofLayout: layout.number) == nil
            else { return key.setAside() }
            if part.kind == .toOne {
                key.appendReference(row.toOne(slot))
            } else if !key.append(row: row, slot: slot) {
                return key.setAside()
            }
            if key.byteCount > Self.keyByteCountMax { return key.setAside() }
        }
    }

    /// Derives the key of the row that a draft of the layout in force is about to become; values outside of the row
    /// were moved out already.
    package func makeKey(of draft: Draft, into key: inout KeyWriter) {
        key.removeAll()
        for (place, slot) in slots.enumerated() {
            if parts[place].kind == .toOne {
                key.appendReference(draft.toOne(slot))
            } else if !key.append(draft: draft, slot: slot) {
                return key.setAside()
            }
            if key.byteCount > Self.keyByteCountMax { return key.setAside() }
        }
    }
}

extension KeyWriter {
    /// Makes this the key of an object that is set aside.
    fileprivate mutating func setAside() {
        removeAll()
        appendMark(SecondaryIndex.asideMark)
    }

    /// Appends the key of a reference; 0 is nil.
    package mutating func appendReference(_ target: RecordID) {
        if target == 0 { return appendNil() }
        appendMark(1)
        appendIdentifier(target)
    }
}

extension ColumnKind {
    /// Whether equal values of the two kinds have equal keys.
    fileprivate func hasKeys(like other: ColumnKind) -> Bool {
        self == other || isSignedInteger && other.isSignedInteger || isUnsignedInteger && other.isUnsignedInteger
            || isText && other.isText
    }

    /// Whether values of the kind can be indexed.
    package var canBeIndexed: Bool {
        switch self {
        case .attribute(.codable), .toMany, .link: false
        default: true
        }
    }
}
