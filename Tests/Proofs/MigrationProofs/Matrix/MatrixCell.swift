/// A migration whose peak of memory is measured: a shape of data, a kind of stage, a number of objects, a ceiling.
struct MatrixCell: Codable, Hashable {
    /// The shapes of data.
    enum Shape: String, Codable, CaseIterable {
        /// Objects without relationships.
        case flat
        /// Groups of 300,000 members each.
        case toMany = "to-many"
        /// Notes and tags in equal numbers, each with a hundred of the others.
        case manyToMany = "many-to-many"
        /// Objects that get a value of 200 KB each, which a policy sets in its second pass.
        case values

        /// The numbers of objects, in ascending order.
        var sizes: [Int] {
            switch self {
            case .flat, .toMany: [1_000_000, 4_000_000, 10_000_000]
            case .manyToMany: [20_000, 100_000, 200_000]
            case .values: [1_000, 10_000, 50_000]
            }
        }

        /// A lightweight stage sets no value.
        var kinds: [Kind] { self == .values ? Kind.allCases.filter { $0 != .lightweight } : Kind.allCases }

        /// The kind of the cell that the gate measures, with the smallest store at the lowest ceiling.
        var kindInGate: Kind {
            switch self {
            case .flat, .manyToMany: .streamed
            case .toMany: .mapped
            case .values: .policy
            }
        }

        /// Bytes on the disk, at most, for each object: the prepared store, a copy, and all that a stage writes.
        var byteCountOfObject: Int {
            switch self {
            case .flat, .toMany: 1_200
            case .manyToMany: 40_000
            case .values: 480_000
            }
        }
    }

    /// The kinds of stages.
    enum Kind: String, Codable, CaseIterable {
        case lightweight, streamed
        /// Mappings without a policy.
        case mapped
        case policy, custom
    }

    /// Memory ceilings in MiB, in ascending order.
    static let ceilings = [16, 64, 256]
    /// The most that a peak may rise above its ceiling, in bytes.
    static let excessMax = 16 << 20
    /// The most that the peak of the largest store may be above that of the smallest, in bytes.
    static let slopeMax = 4 << 20

    let shape: Shape
    let kind: Kind
    let size: Int
    /// In MiB.
    let ceiling: Int

    /// Bytes that its peak may reach.
    var byteCountMax: Int { ceiling << 20 + Self.excessMax }

    /// All cells, smallest stores first; the largest ceiling with the largest stores only.
    static let all: [MatrixCell] = (0..<3).flatMap { place in
        Shape.allCases.flatMap { shape in
            shape.kinds.flatMap { kind in
                ceilings.filter { $0 < 256 || place == 2 }.map {
                    MatrixCell(shape: shape, kind: kind, size: shape.sizes[place], ceiling: $0)
                }
            }
        }
    }

    /// For people.
    var name: String { "\(shape.rawValue), \(kind.rawValue), \(size) objects, \(ceiling) MiB" }
}

/// The result of a cell.
struct MatrixLine: Codable {
    /// The commit whose sources were measured; `+` behind it if they were changed since.
    let commit: String
    let cell: MatrixCell
    /// The rise of the peak of resident memory, in bytes.
    let peak: Int
    /// The most bytes that the engine counted at a report of progress.
    let counted: Int
    let seconds: Double
    /// Whether all objects were migrated.
    let right: Bool

    /// Without a rise nothing was measured.
    var isKept: Bool { right && peak > 0 && peak <= cell.byteCountMax }
}
