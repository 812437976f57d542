/// Rows of text in columns, for a terminal.
package enum TextTable {
    /// Lines in which the cells of a column have one width: those of the first column begin at it, others end at it.
    package static func aligned(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + blanks : blanks + cell.0
            }.joined(separator: "  ") + "\n"
        }.joined()
    }
}
