internal import FaultlineModel
internal import Synchronization

/// The offsets of everything in the rows of one layout.
///
/// Invariants:
/// - a column number occurs once;
/// - every field, end word and nil bit is in the fixed area, and no two overlap;
/// - the end words are in the order of their ordinals, and the nil bits are the last bytes of the fixed area.
///
/// A layout must outlive every row, draft and program made with it: registries keep layouts for ever.
@usableFromInline
package final class RowLayout: Sendable {
    /// The number in records.
    package let number: UInt16
    package let entityName: String
    /// The columns, by slot.
    package let columns: [Column]
    /// Bytes of everything before the variable bytes.
    package let fixedByteCount: Int
    package let variableCount: Int
    package let endsOffset: Int
    package let nilBitsOffset: Int
    package let nilByteCount: Int
    /// The data for getters, flat; valid as long as the layout.
    // Safe because the memory is written before the layout is shared, and never after.
    @usableFromInline nonisolated(unsafe) package let table: UnsafePointer<LayoutTable>

    private let memory: LayoutTableMemory
    // Safe because the template is written before the layout is shared, and never after.
    nonisolated(unsafe) private let template: UnsafeMutableRawPointer
    // Safe because the offsets are written before the layout is shared, and never after.
    nonisolated(unsafe) private let flagFields: UnsafeMutablePointer<UInt32>
    /// Column numbers, ascending, each with its slot.
    private let slotsByNumber: [(number: UInt32, slot: Int)]
    /// The first allocation for variable bytes of a new draft: the recent need of this layout's drafts, with a margin.
    let draftRoom: Atomic<UInt32>
    /// The smallest size from which any column's values are moved out of the row.
    let externalByteCountMin: Int
    /// Slots of the columns whose values may be outside of the row.
    package let variableSlots: [Int]

    /// Assigns an offset to every column.
    package convenience init(number: UInt16, entityName: String, columns descriptions: [ColumnDescription]) {
        self.init(
            checkedNumber: number,
            entityName: entityName,
            columns: Self.placing(descriptions),
            fixedByteCount: Self.fixedByteCount(of: descriptions)
        )
    }

    /// The accesses, by slot.
    @inlinable @inline(__always)
    package var slots: UnsafePointer<SlotAccess> { table.slots }

    /// The largest number of variable bytes that a new draft has room for.
    private static let draftRoomMax = 2048

    /// Raises the initial room of new drafts half way to one draft's need, so that a single large draft has little
    /// effect.
    func noteNeededDraftRoom(_ byteCount: Int) {
        let room = Int(draftRoom.load(ordering: .relaxed))
        let wanted = min(byteCount + 16, Self.draftRoomMax)
        guard wanted > room else { return }
        draftRoom.store(UInt32((room + (wanted - room + 1) / 2 + 15) / 16 * 16), ordering: .relaxed)
    }

    /// Lowers the initial room of new drafts.
    func noteUnusedDraftRoom(_ byteCount: Int) {
        let room = draftRoom.load(ordering: .relaxed)
        draftRoom.store(room - room / 16, ordering: .relaxed)
    }

    package func slot(ofColumn number: UInt32) -> Int? {
        var first = 0
        var end = slotsByNumber.count
        while first < end {
            let middle = (first + end) / 2
            if slotsByNumber[middle].number < number { first = middle + 1 } else { end = middle }
        }
        guard first < slotsByNumber.count, slotsByNumber[first].number == number else { return nil }
        return slotsByNumber[first].slot
    }

    /// Builds the layout of columns whose offsets have been checked.
    package init(checkedNumber number: UInt16, entityName: String, columns: [Column], fixedByteCount: Int) {
        let optionalCount = columns.reduce(0) { $0 + ($1.nilBit >= 0 ? 1 : 0) }
        let variableCount = columns.reduce(0) { $0 + ($1.isVariable ? 1 : 0) }
        let nilByteCount = (optionalCount + 7) / 8
        let nilBitsOffset = fixedByteCount - nilByteCount
        let endsOffset = columns.lazy.filter(\.isVariable).map(\.offset).min() ?? 0
        self.number = number
        self.entityName = entityName
        self.columns = columns
        variableSlots = columns.indices.filter { columns[$0].isVariable }
        self.fixedByteCount = fixedByteCount
        self.variableCount = variableCount
        self.nilByteCount = nilByteCount
        self.nilBitsOffset = nilBitsOffset
        self.endsOffset = endsOffset
        slotsByNumber = columns.indices.map { (columns[$0].number, $0) }.sorted { $0.number < $1.number }

        let placesOffset = DraftHeader.byteCount + (fixedByteCount + 7) / 8 * 8
        let valuesOffset = placesOffset + variableCount * DraftPlace.byteCount + DraftMarks.byteCount(columns.count)
        template = Self.template(byteCount: valuesOffset, nilBitsOffset: nilBitsOffset, columns)
        let bools = columns.filter { $0.kind == .attribute(.bool) }.map { UInt32($0.offset) }
        let decimals = columns.filter { $0.kind == .attribute(.decimal) }.map { UInt32($0.offset + 20) }
        flagFields = UnsafeMutablePointer.allocate(capacity: bools.count + decimals.count)
        for (index, offset) in (bools + decimals).enumerated() { (flagFields + index).initialize(to: offset) }
        let header = LayoutTable(
            fixedByteCount: UInt32(fixedByteCount),
            variableCount: UInt32(variableCount),
            endsOffset: UInt32(endsOffset),
            nilBitsOffset: UInt32(nilBitsOffset),
            nilByteCount: UInt32(nilByteCount),
            slotCount: UInt32(columns.count),
            number: number,
            unusedNilMask: optionalCount % 8 == 0 ? 0 : ~(1 << UInt8(optionalCount % 8) &- 1),
            draftValuesOffset: UInt32(valuesOffset),
            draftPlacesOffset: UInt32(placesOffset),
            physical: nil,
            fallbackRow: nil,
            fallbackTable: nil,
            presentTable: nil,
            draftTemplate: UnsafeRawPointer(template),
            layout: nil,
            flagFields: UnsafePointer(flagFields),
            flagFieldCount: UInt32(bools.count + decimals.count),
            boolCount: UInt32(bools.count)
        )
        memory = LayoutTableMemory(
            header,
            slots: columns.enumerated().map { slot, column in
                column.access(slot: slot, nilBitsOffset: nilBitsOffset, fixedByteCount: fixedByteCount)
            }
        )
        table = memory.table
        externalByteCountMin = columns.lazy.filter(\.isVariable).map { max($0.externalThreshold, 1) }.min() ?? .max
        template.storeBytes(of: memory.table, as: UnsafePointer<LayoutTable>.self)
        draftRoom = Atomic(UInt32(min(variableCount, 64) * 32))
        memory.setLayout(self)
    }

    deinit {
        template.deallocate()
        flagFields.deallocate()
    }

    /// The bytes of a new draft: all values are zero, and all optional ones nil.
    private static func template(
        byteCount: Int, nilBitsOffset: Int, _ columns: [Column]
    ) -> UnsafeMutableRawPointer {
        let template = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        template.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        for column in columns where column.nilBit >= 0 {
            let place = DraftHeader.byteCount + nilBitsOffset + column.nilBit / 8
            let bits = template.load(fromByteOffset: place, as: UInt8.self)
            template.storeBytes(of: bits | 1 << UInt8(column.nilBit % 8), toByteOffset: place, as: UInt8.self)
        }
        return template
    }

    /// Columns with offsets: fields of 24, 16 and 8 bytes, end words, fields of 4, 2 and 1 bytes, each by slot.
    private static func placing(_ descriptions: [ColumnDescription]) -> [Column] {
        var offsets = [Int](repeating: 0, count: descriptions.count)
        var next = 0
        func place(_ chosen: (ColumnDescription) -> Bool, width: Int) {
            for (slot, description) in descriptions.enumerated() where chosen(description) {
                offsets[slot] = next
                next += width
            }
        }
        for width in [24, 16, 8] { place({ !$0.kind.isVariable && $0.storedWidth == width }, width: width) }
        place(\.kind.isVariable, width: 4)
        for width in [4, 2, 1] { place({ !$0.kind.isVariable && $0.storedWidth == width }, width: width) }
        precondition(repeated(descriptions.map(\.number)) == nil, "A column number names one column of a layout.")
        var ordinal = 0
        var nilBit = 0
        return descriptions.enumerated().map { slot, description in
            defer {
                if description.kind.isVariable { ordinal += 1 }
                if description.hasNilBit { nilBit += 1 }
            }
            return Column(
                number: description.number,
                kind: description.kind,
                offset: offsets[slot],
                width: description.storedWidth,
                ordinal: description.kind.isVariable ? ordinal : -1,
                nilBit: description.hasNilBit ? nilBit : -1,
                externalThreshold: description.externalThreshold
            )
        }
    }

    private static func fixedByteCount(of descriptions: [ColumnDescription]) -> Int {
        let fields = descriptions.reduce(0) { $0 + $1.storedWidth }
        let optionalCount = descriptions.reduce(0) { $0 + ($1.hasNilBit ? 1 : 0) }
        return fields + (optionalCount + 7) / 8
    }

    /// Builds a layout from its description in the registry, or throws its first fault.
    package convenience init(
        registered number: UInt16,
        entityName: String,
        columns: [Column],
        fixedByteCount: Int
    ) throws(RowError) {
        try Self.check(columns, fixedByteCount: fixedByteCount)
        self.init(checkedNumber: number, entityName: entityName, columns: columns, fixedByteCount: fixedByteCount)
    }

    /// A number that occurs twice in a list.
    private static func repeated(_ numbers: [UInt32]) -> UInt32? {
        let sorted = numbers.sorted()
        for index in sorted.indices.dropFirst() where sorted[index] == sorted[index - 1] { return sorted[index] }
        return nil
    }

    /// Checks that reading and writing by the columns' offsets stays within the fixed area.
    private static func check(_ columns: [Column], fixedByteCount: Int) throws(RowError) {
        func refuse(_ message: String) -> RowError { RowError(code: .badLayout, message: message) }
        guard (0...1 << 20).contains(fixedByteCount), columns.count <= 1 << 15 else {
            throw refuse("The layout's fixed area or number of columns is out of bounds.")
        }
        let optionalCount = columns.reduce(0) { $0 + ($1.nilBit >= 0 ? 1 : 0) }
        let fieldsEnd = fixedByteCount - (optionalCount + 7) / 8
        let ends = columns.filter(\.isVariable).map(\.offset).min() ?? 0
        guard ends % 4 == 0 else { throw refuse("The layout's end words are not at a multiple of 4.") }
        if let number = repeated(columns.map(\.number)) {
            throw refuse("Column \(number) occurs twice in the layout.")
        }
        let variableCount = columns.reduce(0) { $0 + ($1.isVariable ? 1 : 0) }
        var ordinals = [Bool](repeating: false, count: variableCount)
        var nilBits = [Bool](repeating: false, count: optionalCount)
        /// Whether an index is in range and not taken yet; marks it as taken.
        func take(_ place: Int, of places: inout [Bool]) -> Bool {
            guard places.indices.contains(place), !places[place] else { return false }
            places[place] = true
            return true
        }
        var taken: [(start: Int, end: Int)] = []
        for column in columns {
            let isWidthRight =
                column.kind.isInteger
                ? [1, 2, 4, 8].contains(column.width) && column.width <= column.kind.naturalWidth
                : column.width == column.kind.naturalWidth
            guard isWidthRight, column.offset >= 0, column.offset <= fieldsEnd - column.width else {
                throw refuse("Column \(column.number) has no valid place in the layout.")
            }
            if column.width > 0 { taken.append((column.offset, column.offset + column.width)) }
            guard column.kind.isVariable == (column.ordinal >= 0),
                !column.isVariable
                    || (take(column.ordinal, of: &ordinals) && column.offset == ends + 4 * column.ordinal),
                column.nilBit < 0 || take(column.nilBit, of: &nilBits),
                column.nilBit < 0 || (column.kind != .toOne && column.kind != .toMany), column.externalThreshold >= 0
            else { throw refuse("Column \(column.number) has a wrong ordinal, nil bit or threshold.") }
        }
        taken.sort { $0.start < $1.start }
        for index in taken.indices.dropFirst() where taken[index - 1].end > taken[index].start {
            throw refuse("Two columns of the layout overlap at byte \(taken[index].start).")
        }
    }
}

extension RowLayout: Codable {
    private enum CodingKeys: String, CodingKey { case number, entity, fixed, columns }

    @usableFromInline
    package convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            registered: try container.decode(UInt16.self, forKey: .number),
            entityName: try container.decode(String.self, forKey: .entity),
            columns: try container.decode([Column].self, forKey: .columns),
            fixedByteCount: try container.decode(Int.self, forKey: .fixed)
        )
    }

    @usableFromInline
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(entityName, forKey: .entity)
        try container.encode(fixedByteCount, forKey: .fixed)
        try container.encode(columns, forKey: .columns)
    }
}

extension ColumnDescription {
    fileprivate var storedWidth: Int { width ?? kind.naturalWidth }
    /// Whether the column has a nil bit; a to-one column's nil is zero.
    fileprivate var hasNilBit: Bool { isOptional && kind != .toOne && kind != .toMany }
}

extension Column {
    /// The access to this column in rows with these offsets of nil bits and variable bytes.
    func access(slot: Int, nilBitsOffset: Int, fixedByteCount: Int) -> SlotAccess {
        SlotAccess(
            offset: UInt32(offset),
            nilOffset: nilBit < 0 ? 0 : UInt32(nilBitsOffset + nilBit / 8),
            origin: isVariable ? UInt32(fixedByteCount) : UInt32(slot),
            kind: kind.rawValue,
            width: UInt8(width),
            nilMask: nilBit < 0 ? 0 : 1 << UInt8(nilBit % 8),
            isFirst: ordinal == 0 ? 1 : 0
        )
    }
}
