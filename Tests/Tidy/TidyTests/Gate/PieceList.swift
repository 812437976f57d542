/// The list of pieces for `.ci/check` or `.ci/check-night`.
///
/// Each line has a name, a seed, a size and a command.
struct PieceList {
    struct Piece: Equatable {
        let name: String
        let size: String
        let command: String
    }

    let pieces: [Piece]

    init(_ text: String) {
        pieces = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: "|", maxSplits: 3).map(\.trimmed)
            guard parts.count == 4 else { return Piece(name: line.trimmed, size: "", command: "") }
            return Piece(name: parts[0], size: parts[2], command: parts[3])
        }
    }
}

/// A rule that one table lists the pieces of the gate and the nightly run, and that no piece of the gate depends on the
/// clock.
struct PieceTableRule: TidyRule {
    private static let document = "docs/Testing.md"
    /// Words in commands that end after a certain time.
    private static let clocks = ["SECONDS", "timeout", "--seconds", "date"]

    func violations(in files: [RepositoryFile]) -> [Violation] {
        let lists = [".ci/gate", ".ci/night"].map { path in
            (path, PieceList(files.first { $0.path == path }?.text ?? ""))
        }
        let rows = Self.rows(files.first { $0.path == Self.document }?.text ?? "")
        var violations: [Violation] = []
        for (column, (path, list)) in lists.enumerated() {
            if list.pieces.isEmpty { violations.append(Violation(path: path, line: 0, message: "names no piece")) }
            for piece in list.pieces {
                if piece.command.isEmpty {
                    let message = "\(piece.name): write name | seed | size | command"
                    violations.append(Violation(path: path, line: 0, message: message))
                }
                if rows[piece.name]?[column] != piece.size {
                    let message =
                        "\(piece.name) is \(piece.size); its row in the table of \(Self.document) says otherwise"
                    violations.append(Violation(path: path, line: 0, message: message))
                }
            }
            let names = Set(list.pieces.map(\.name))
            for (name, sizes) in rows.sorted(by: { $0.key < $1.key })
            where !sizes[column].isEmpty && !names.contains(name) {
                let message = "\(name) has a size for \(path), which has no such piece"
                violations.append(Violation(path: Self.document, line: 0, message: message))
            }
        }
        for piece in lists[0].1.pieces {
            guard let clock = Self.clocks.first(where: piece.command.contains) else { continue }
            let message = "\(piece.name): \(clock) makes its size depend on the clock; give it a constant size"
            violations.append(Violation(path: lists[0].0, line: 0, message: message))
        }
        return violations
    }

    /// Returns the sizes in the gate and at night for each piece, from the table with a column "in the gate".
    private static func rows(_ text: String) -> [String: [String]] {
        var rows: [String: [String]] = [:]
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                isInTable = false
                continue
            }
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(\.trimmed)
            if cells.contains("in the gate") { isInTable = true }
            guard isInTable, cells.count == 7, cells[1] != "piece", !cells[1].hasPrefix("---") else { continue }
            rows[cells[1]] = [cells[2], cells[4]]
        }
        return rows
    }
}
