/// A table of a page.
struct MarkupTable {
    private let head: Markup
    private let numeric: Set<Int>
    private var rows: [Markup] = []

    /// Begins a table.
    ///
    /// - Parameters:
    ///   - columns: The headings.
    ///   - numeric: The columns that have numbers.
    init(_ columns: [Markup], numeric: Set<Int> = []) {
        self.numeric = numeric
        let cells = columns.enumerated().map { place, name -> Markup in
            numeric.contains(place)
                ? "<th scope=\"col\" class=\"number\">\(name)</th>" : "<th scope=\"col\">\(name)</th>"
        }
        head = "<thead><tr>\(Markup(cells))</tr></thead>"
    }

    /// Adds a row.
    mutating func add(_ cells: [Markup]) {
        let cells = cells.enumerated().map { place, cell -> Markup in
            numeric.contains(place) ? "<td class=\"number\">\(cell)</td>" : "<td>\(cell)</td>"
        }
        rows.append("<tr>\(Markup(cells))</tr>\n")
    }

    /// The table; a sentence in its place if it has no row.
    func markup(_ name: String = "list", empty: String) -> Markup {
        guard !rows.isEmpty else { return "<p class=\"none\">\(empty)</p>" }
        return "<div class=\"wide\"><table class=\"\(name)\">\(head)<tbody>\(Markup(rows))</tbody></table></div>"
    }
}
