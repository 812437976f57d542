import FaultlineModel
import FaultlineStore

/// Reads a row of a layout with a column of every kind; the first byte says whether it has an extension.
enum RowTrial {
    private static let layout = RowLayout(
        number: 1, entityName: "Everything",
        columns: kinds.enumerated().flatMap { place, kind in
            [false, true].map { isOptional in
                ColumnDescription(
                    number: UInt32(1 + 2 * place + (isOptional ? 1 : 0)), kind: kind, isOptional: isOptional)
            }
        })
    private static let kinds: [ColumnKind] = AttributeKind.allCases.map { .attribute($0) } + [.toOne, .link, .toMany]

    static func seeds() -> [[UInt8]] {
        let row = [UInt8](repeating: 0, count: layout.fixedByteCount)
        let entry: [UInt8] = [1, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9]
        return [[0] + row, [1] + row + entry + [12, 0, 0, 0]]
    }

    static func run(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        try run(Array(bytes.dropFirst()), of: layout, hasExtension: first & 1 == 1)
    }

    /// Checks that every getter of every column works on a sound row.
    ///
    /// - Returns: A sum of their values, so that all are called.
    /// - Throws: `FuzzViolation` if one reads beyond the row.
    @inline(never) @discardableResult
    static func run(_ row: [UInt8], of layout: RowLayout, hasExtension: Bool = false) throws -> Int {
        // A separate allocation, so that a read behind the row is detected.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: row.count, alignment: 8)
        defer { copy.deallocate() }
        copy.copyBytes(from: row)
        guard let view = RowView(checking: UnsafeRawBufferPointer(copy), layout: layout, hasExtension: hasExtension)
        else { return 0 }
        var sum = 0
        for (slot, column) in layout.columns.enumerated() {
            if view.isNil(slot) { continue }
            if column.kind.isVariable {
                sum &+= view.variable(slot).reduce(0) { $0 &+ Int($1) }
                sum &+= view.string(slot).utf8.count + (view.blobReference(slot) == nil ? 0 : 1)
                guard view.variable(slot).count <= row.count else {
                    throw FuzzViolation(description: "slot \(slot) has more bytes than its row")
                }
            } else if column.kind.isInteger || column.kind == .link {
                sum &+= Int(truncatingIfNeeded: view.int64(slot))
            } else if column.kind == .toOne {
                sum &+= Int(truncatingIfNeeded: view.toOne(slot))
            }
            sum &+= view.orderKey(slot) == nil ? 0 : 1
        }
        return sum
    }
}
