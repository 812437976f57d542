internal import Foundation

/// The values of a binary property list, format 00.
///
/// Foundation reads such files, too, but hides the references of keyed archives. Bounds: every offset and count is
/// checked against the bytes, all references together and all texts and data together against fixed numbers. Values
/// that contain each other are refused.
struct BinaryPropertyList {
    enum Value {
        case null
        case flag(Bool)
        case integer(Int64)
        case number(Double)
        case date(Date)
        case data(Data)
        case text(String)
        /// The reference of a keyed archive.
        case reference(Int)
        /// Positions of values.
        case list([Int])
        /// Positions of values by texts.
        case dictionary([String: Int])
    }

    /// All values; lists and dictionaries refer to them by position.
    let values: [Value]
    /// The position of the outermost value.
    let root: Int
    /// The bytes of all texts and data together.
    let contentSize: Int

    static let magic = Data("bplist00".utf8)

    init(_ bytes: Data, path: String) throws(ModelFileError) {
        var reader = BinaryPropertyListReader(bytes, path: path)
        root = try reader.readTrailer()
        values = try reader.readValues()
        contentSize = reader.contentSize
        try Self.refuseCycles(values, path: path)
    }

    subscript(position: Int) -> Value { values[position] }

    /// Visits the values depth first, without recursion.
    private static func refuseCycles(_ values: [Value], path: String) throws(ModelFileError) {
        enum State { case new, open, done }
        var states = [State](repeating: .new, count: values.count)
        for start in values.indices where states[start] == .new {
            var stack = [start]
            while let position = stack.last {
                guard states[position] == .new else {
                    states[position] = .done
                    stack.removeLast()
                    continue
                }
                states[position] = .open
                for next in Self.positions(in: values[position]) where states[next] != .done {
                    guard states[next] != .open else {
                        throw ModelFileError(
                            .cyclic, path,
                            "A value of the property list contains itself. The file was damaged or made by hand.")
                    }
                    stack.append(next)
                }
            }
        }
    }

    private static func positions(in value: Value) -> [Int] {
        switch value {
        case .list(let positions): positions
        case .dictionary(let positions): Array(positions.values)
        default: []
        }
    }
}
