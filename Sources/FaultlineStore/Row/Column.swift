/// A property as a layout is to store it, without an offset yet.
package struct ColumnDescription: Sendable, Hashable {
    /// Identifies the property permanently in the store.
    package let number: UInt32
    package let kind: ColumnKind
    package let isOptional: Bool
    /// Bytes of the stored integer, at most those of its kind; nil for the kind's own.
    package let width: Int?
    /// The size from which a variable value is moved out of the row; 0 moves every value that is not empty.
    package let externalThreshold: Int

    package init(
        number: UInt32,
        kind: ColumnKind,
        isOptional: Bool = false,
        width: Int? = nil,
        externalThreshold: Int = Column.defaultExternalThreshold
    ) {
        precondition(externalThreshold >= 0, "A threshold is a number of bytes, not negative.")
        if let width {
            precondition(
                [1, 2, 4, 8].contains(width) && width <= kind.naturalWidth
                    && (kind.isInteger || width == kind.naturalWidth),
                "Only integers may be stored in fewer bytes than their kind has, in 1, 2, 4 or 8."
            )
        }
        self.number = number
        self.kind = kind
        self.isOptional = isOptional
        self.width = width
        self.externalThreshold = externalThreshold
    }
}

/// How one column is stored in one layout.
package struct Column: Sendable, Equatable {
    /// The size from which a variable value is moved out of the row, if the attribute does not set another.
    package static let defaultExternalThreshold = 4096

    /// Identifies the property permanently in the store.
    package let number: UInt32
    package let kind: ColumnKind
    /// Bytes from the start of the row to the field or, for a variable column, to its end word.
    package let offset: Int
    /// Bytes of the field; 4 for a variable column's end word.
    package let width: Int
    /// Index among the variable columns, from 0; −1 for a fixed column.
    package let ordinal: Int
    /// Index among the nil bits; −1 if the column is not optional, or is a to-one, whose nil is zero.
    package let nilBit: Int
    /// The size from which a value is moved out of the row; 0 moves every value that is not empty.
    package let externalThreshold: Int

    package var isVariable: Bool { ordinal >= 0 }

    package init(
        number: UInt32,
        kind: ColumnKind,
        offset: Int,
        width: Int,
        ordinal: Int,
        nilBit: Int,
        externalThreshold: Int
    ) {
        self.number = number
        self.kind = kind
        self.offset = offset
        self.width = width
        self.ordinal = ordinal
        self.nilBit = nilBit
        self.externalThreshold = externalThreshold
    }
}

extension Column: Codable {
    private enum CodingKeys: String, CodingKey {
        case number, kind, offset, width, optional, bit, variable, threshold
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let isOptional = try container.decodeIfPresent(Bool.self, forKey: .optional) ?? false
        self.init(
            number: try container.decode(UInt32.self, forKey: .number),
            kind: try container.decode(ColumnKind.self, forKey: .kind),
            offset: try container.decode(Int.self, forKey: .offset),
            width: try container.decode(Int.self, forKey: .width),
            ordinal: try container.decodeIfPresent(Int.self, forKey: .variable) ?? -1,
            nilBit: isOptional ? try container.decode(Int.self, forKey: .bit) : -1,
            externalThreshold: try container.decodeIfPresent(Int.self, forKey: .threshold)
                ?? Column.defaultExternalThreshold
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(kind, forKey: .kind)
        try container.encode(offset, forKey: .offset)
        try container.encode(width, forKey: .width)
        if nilBit >= 0 {
            try container.encode(true, forKey: .optional)
            try container.encode(nilBit, forKey: .bit)
        }
        if isVariable { try container.encode(ordinal, forKey: .variable) }
        if externalThreshold != Column.defaultExternalThreshold {
            try container.encode(externalThreshold, forKey: .threshold)
        }
    }
}
