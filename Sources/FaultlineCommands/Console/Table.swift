/// A small table for people: aligned columns, a rule under the headings, plain text if the output is no terminal.
package struct Table: Sendable {
    /// The side of its column on which a text stands.
    package enum Alignment: Sendable {
        case left
        case right
    }

    private let headings: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []
    private var notes: [String] = []

    /// Makes an empty table.
    ///
    /// - Parameter columns: Headings from left to right; the unit, where all rows share one, belongs into the heading.
    package init(_ columns: [(heading: String, alignment: Alignment)]) {
        headings = columns.map(\.heading)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row; missing cells stay empty.
    package mutating func add(_ cells: [String]) {
        precondition(cells.count <= headings.count, "a row has at most as many cells as the table has columns")
        rows.append(cells + Array(repeating: "", count: headings.count - cells.count))
    }

    /// Adds a line below the table.
    package mutating func note(_ text: String) {
        notes.append(text)
    }

    /// The table as lines that end with a line break; `isStyled` makes headings bold and rules dim.
    package func text(isStyled: Bool) -> String {
        let widths = headings.indices.map { column in
            max(Self.width(headings[column]), rows.map { Self.width($0[column]) }.max() ?? 0)
        }
        let rule = widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
        var text = Self.styled(line(headings, widths), "1", isStyled) + "\n"
        text += Self.styled(rule, "2", isStyled) + "\n"
        for row in rows { text += line(row, widths) + "\n" }
        for note in notes { text += Self.styled(note, "2", isStyled) + "\n" }
        return text
    }

    /// Writes the table, styled where the output allows it.
    package func print(to terminal: Terminal = .output) {
        terminal.write(text(isStyled: terminal.isStyled))
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let blanks = String(repeating: " ", count: widths[column] - Self.width(cell))
            if column > 0 { line += "  " }
            line += alignments[column] == .right ? blanks + cell : cell + blanks
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    private static func styled(_ text: String, _ style: String, _ isStyled: Bool) -> String {
        isStyled ? "\u{1B}[\(style)m" + text + "\u{1B}[0m" : text
    }

    /// Columns that the text takes, counting a character as one.
    private static func width(_ text: String) -> Int { text.count }
}
