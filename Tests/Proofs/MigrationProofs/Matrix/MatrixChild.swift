import FaultlineTestSupport

/// The parts of the matrix that run in child processes.
enum MatrixChild {
    static func prepare(_ arguments: [String]) throws -> Int32 {
        guard arguments.count == 3, let shape = MatrixCell.Shape(rawValue: arguments[0]), let size = Int(arguments[1]),
            (1...100_000_000).contains(size)
        else { throw WrongUsage(message: "matrix-prepare needs a shape, a size and a directory") }
        try shape.prepare(arguments[2], size)
        return 0
    }

    static func migrate(_ arguments: [String]) throws -> Int32 {
        guard arguments.count == 6, let shape = MatrixCell.Shape(rawValue: arguments[0]),
            let kind = MatrixCell.Kind(rawValue: arguments[1]), let size = Int(arguments[2]),
            (1...100_000_000).contains(size), let ceiling = Int(arguments[3]), (16...4_096).contains(ceiling)
        else {
            throw WrongUsage(message: "matrix-cell needs a shape, a kind, a size, a ceiling, a commit, a directory")
        }
        let cell = MatrixCell(shape: shape, kind: kind, size: size, ceiling: ceiling)
        print(try MatrixRecord.text(cell.migrate(arguments[5], commit: arguments[4])))
        return 0
    }
}
