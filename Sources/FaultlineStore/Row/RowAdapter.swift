internal import FaultlineModel

/// Reads rows of an older layout by the slots of the layout in force.
///
/// Columns are found by number. If the older layout lacks a column, or the row has nil in one that no longer allows it,
/// the value comes from a row of defaults. Integers and floats that have since been widened are read as their present
/// type. An adapter must outlive every view and program made with it, and keeps both layouts alive.
@usableFromInline
package final class RowAdapter: Sendable {
    /// The layout in which the rows are written.
    package let layout: RowLayout
    /// The layout whose slots views take.
    package let current: RowLayout
    /// The table for views of the older rows.
    // Safe because the memory is written before the adapter is shared, and never after.
    @usableFromInline nonisolated(unsafe) package let table: UnsafePointer<LayoutTable>

    /// Slots of the older layout whose values may be outside of the row, and whose columns the layout in force lacks.
    package let removedVariableSlots: [Int]

    private let memory: LayoutTableMemory
    /// For slots that were optional and no longer are: read if the row has a value.
    private let present: LayoutTableMemory?
    // Safe because the row is written before the adapter is shared, and never after.
    nonisolated(unsafe) private let defaults: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - layout: The layout in which the rows are written.
    ///   - current: The layout in force.
    ///   - defaults: Values of the columns that the older layout lacks; nil: zero, empty, nil.
    ///   - replacingNil: Slots that may be nil now and were required in the meantime: their defaults replace nil all
    ///     the same.
    /// - Throws: `incompatibleColumn` if stored values cannot be read as the column's present kind.
    package init(
        layout: RowLayout, current: RowLayout, defaults: Draft? = nil, replacingNil: Set<Int> = []
    ) throws(RowError) {
        var accesses: [SlotAccess] = []
        var stricter: [Int] = []
        for (place, column) in current.columns.enumerated() {
            guard let slot = layout.slot(ofColumn: column.number) else {
                accesses.append(.absent(kind: column.kind.rawValue))
                continue
            }
            let stored = layout.columns[slot]
            guard stored.kind.isReadable(as: column.kind) else {
                throw RowError(
                    code: .incompatibleColumn,
                    message:
                        "Column \(column.number) of \(layout.entityName) holds values of kind \(stored.kind.rawValue) in "
                        + "layout \(layout.number), which cannot be read as kind \(column.kind.rawValue); "
                        + "migrate it with a stage that converts the values."
                )
            }
            let isStricter = column.nilBit < 0 || replacingNil.contains(place)
            if stored.nilBit >= 0, isStricter, column.kind != .toOne, column.kind != .toMany {
                stricter.append(accesses.count)
            }
            accesses.append(layout.slots[slot])
        }
        self.layout = layout
        self.current = current
        removedVariableSlots = layout.variableSlots.filter { current.slot(ofColumn: layout.columns[$0].number) == nil }
        self.defaults = Self.defaultRow(defaults, current)
        var header = layout.table.pointee
        header.slotCount = UInt32(accesses.count)
        header.fallbackRow = UnsafeRawPointer(self.defaults.baseAddress)
        header.fallbackTable = current.table
        if stricter.isEmpty {
            present = nil
        } else {
            let made = LayoutTableMemory(header, slots: accesses)
            header.presentTable = made.table
            present = consume made
            for slot in stricter { accesses[slot] = .absent(kind: accesses[slot].kind) }
        }
        memory = LayoutTableMemory(header, slots: accesses)
        table = memory.table
    }

    deinit { defaults.deallocate() }

    /// The values of the columns that the older layout lacks, as a row of the layout in force.
    package var defaultRow: RowView {
        // Safe because the row has an allocation of at least one byte.
        RowView(trusted: UnsafeRawPointer(defaults.baseAddress.unsafelyUnwrapped), table: current.table)
    }

    private static func defaultRow(_ given: Draft?, _ layout: RowLayout) -> UnsafeMutableRawBufferPointer {
        let draft = given ?? Draft.create(layout: layout)

        defer { if given == nil { draft.destroy() } }
        let row = UnsafeMutableRawBufferPointer.allocate(byteCount: draft.encodedByteCount + 1, alignment: 16)
        // Safe because an allocation of at least one byte has an address.
        _ = draft.encode(into: row.baseAddress.unsafelyUnwrapped)
        return row
    }
}

extension SlotAccess {
    /// An access that redirects getters to the row of defaults.
    fileprivate static func absent(kind: UInt8) -> SlotAccess {
        SlotAccess(offset: 0, nilOffset: 0, origin: 0, kind: kind, width: 0, nilMask: 0, isFirst: 0)
    }
}

extension ColumnKind {
    /// Whether every stored value of this kind is a value of the other.
    package func isReadable(as other: ColumnKind) -> Bool {
        if self == other { return true }
        if isInteger, other.isInteger {
            if isSignedInteger == other.isSignedInteger { return naturalWidth <= other.naturalWidth }
            return isUnsignedInteger && naturalWidth < other.naturalWidth
        }
        return self == .attribute(.float) && other == .attribute(.double)
    }
}
