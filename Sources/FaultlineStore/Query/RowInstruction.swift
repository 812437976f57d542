/// One test of a program on one field, with its jump targets.
struct RowInstruction {
    /// The jump targets that end the program.
    static let accept: Int32 = -1
    static let reject: Int32 = -2

    /// The kind of the test.
    ///
    /// The first eleven load a number and test whether it is in a range, ends included.
    enum Operation: UInt8 {
        case int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
        /// As `uint64`, of the bits of a to-one field that are an identifier.
        case identifier
        /// The nil bit is set.
        case isNil
        /// The 16 bytes are those of the bounds.
        case uuidEqual
        /// The 16 bytes are compared with those of the bounds.
        case uuidOrder
        case decimalOrder
        case textEqual, textOrder, textContains, textBegins, textMember
        case dataEqual, dataOrder, dataMember
        /// The number's bit pattern is in a sorted list.
        case int64Member
        /// The to-one slot refers to a deleted object.
        case dangling
    }

    var operation: Operation
    /// Whether the result is negated: a test that is false for nil becomes true.
    var isNegated = false
    var comparison = RowComparison.equal
    /// Bit of the byte at `nilOffset` that means nil; 0 if the column is not optional.
    var nilMask: UInt8 = 0
    var nilOffset: UInt32 = 0
    /// Bytes from the start of the row to the field or end word.
    var offset: UInt32 = 0
    /// For variable slots: the offset of the variable bytes, and whether the value is the first.
    var origin: UInt32 = 0
    var isFirst = false
    /// Width and sign of the field, for membership.
    var field = Operation.int64
    /// The slot in the schema in force, for values outside of the row.
    var slot: Int32 = 0
    var onTrue: Int32 = RowInstruction.accept
    var onFalse: Int32 = RowInstruction.reject
    /// Range, or bytes of a UUID: bit patterns of the field's type.
    var low: UInt64 = 0
    var high: UInt64 = 0
    /// Texts, data or numbers to compare with.
    var operands: UnsafePointer<RowOperand>?
    var operandCount: Int32 = 0
    /// The existing targets of the slot; the program keeps them alive.
    var targets: Unmanaged<ReferenceTargets>?

    /// Whether a batch of rows can be tested without reading values of variable size.
    var isRange: Bool { operation.rawValue <= Operation.isNil.rawValue }

    /// The cost of the test, roughly in nanoseconds: cheap tests come first.
    var cost: Int {
        switch operation {
        case .uuidEqual, .uuidOrder: 2
        case .int64Member: 4
        case .decimalOrder: 10
        case .textEqual, .dataEqual: 5
        case .textOrder, .dataOrder, .textBegins: 8
        case .textMember, .dataMember: 20
        case .textContains: 50
        case .dangling: 60
        default: 1
        }
    }
}

/// Bytes that a program compares values with, in memory that the program owns.
struct RowOperand {
    var bytes: UnsafeRawPointer
    var byteCount: Int
    /// Whether text is ASCII in its normal form.
    var isASCII: Bool

    @inline(__always)
    var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: byteCount) }

    var string: String { String(decoding: buffer, as: UTF8.self) }

    @inline(__always)
    var number: UInt64 { bytes.loadUnaligned(as: UInt64.self) }
}
