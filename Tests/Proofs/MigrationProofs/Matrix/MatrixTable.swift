import Foundation

/// The measured peaks in a table, and the bounds that they break.
struct MatrixTable {
    /// For a Markdown document.
    let text: String
    /// For people, one for each broken bound.
    let violations: [String]

    /// Lines around the table in a document.
    static let marks = (
        "<!-- memory-matrix: written by make memory-matrix RECORD=1 -->", "<!-- end of memory-matrix -->"
    )

    init(_ record: MatrixRecord, _ cells: [MatrixCell]) {
        var rows = [
            "| shape | stage | ceiling | smallest | middle | largest | slope |", "|---|---|---|---|---|---|---|",
        ]
        var violations: [String] = []
        for shape in MatrixCell.Shape.allCases {
            for kind in shape.kinds {
                for ceiling in MatrixCell.ceilings {
                    let those = cells.filter { $0.shape == shape && $0.kind == kind && $0.ceiling == ceiling }
                    if those.isEmpty { continue }
                    for line in those.compactMap({ record[$0] }) where !line.isKept {
                        violations.append("\(line.cell.name): \(Self.reason(line))")
                    }
                    let slope = Self.slope(those, record)
                    if let slope, slope > MatrixCell.slopeMax {
                        violations.append(
                            "\(shape.rawValue), \(kind.rawValue), \(ceiling) MiB: the peak grows by \(Self.mebibytes(slope)) MiB"
                        )
                    }
                    let peaks = shape.sizes.map { size in
                        guard let cell = those.first(where: { $0.size == size }) else { return "" }
                        return record[cell].map(Self.figure) ?? "not run"
                    }
                    rows.append(
                        "| \(shape.rawValue) | \(kind.rawValue) | \(ceiling) | \(peaks.joined(separator: " | ")) | \(slope.map(Self.figure) ?? "") |"
                    )
                }
            }
        }
        text = rows.joined(separator: "\n")
        self.violations = violations
    }

    /// The bound that a result breaks.
    private static func reason(_ line: MatrixLine) -> String {
        guard line.right else { return "not all objects were migrated" }
        return line.peak > 0 ? "\(mebibytes(line.peak)) MiB over the memory before" : "no rise of the peak was measured"
    }

    /// The slope; bold where it breaks its bound.
    private static func figure(_ slope: Int) -> String {
        slope > MatrixCell.slopeMax ? "**\(mebibytes(slope))**" : mebibytes(slope)
    }

    /// The peak, followed by the bytes that the engine counted; bold where it breaks its bound.
    private static func figure(_ line: MatrixLine) -> String {
        let peak = mebibytes(line.peak)
        return "\(line.isKept ? peak : "**\(peak)**") (\(mebibytes(line.counted)))"
    }

    /// The rise from the smallest store to the largest; nil if one of them was not measured.
    private static func slope(_ cells: [MatrixCell], _ record: MatrixRecord) -> Int? {
        guard let shape = cells.first?.shape, let largest = shape.sizes.last,
            let first = cells.first(where: { $0.size == shape.sizes[0] }).flatMap({ record[$0] }),
            let last = cells.first(where: { $0.size == largest }).flatMap({ record[$0] })
        else { return nil }
        return last.peak - first.peak
    }

    private static func mebibytes(_ byteCount: Int) -> String {
        let tenths = Int((Double(byteCount) * 10 / Double(1 << 20)).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// Replaces the table in a document.
    ///
    /// - Throws: `MatrixError` if the document lacks the marks around it.
    func write(to file: String) throws {
        guard let bytes = FileManager.default.contents(atPath: file) else {
            throw MatrixError(description: "\(file) cannot be read")
        }
        let document = String(decoding: bytes, as: UTF8.self)
        guard let begin = document.range(of: Self.marks.0 + "\n"),
            let end = document.range(of: Self.marks.1), begin.upperBound <= end.lowerBound
        else { throw MatrixError(description: "\(file) lacks the lines \(Self.marks.0) and \(Self.marks.1)") }
        let new = document[..<begin.upperBound] + "\n" + text + "\n\n" + document[end.lowerBound...]
        try Data(new.utf8).write(to: URL(filePath: file))
    }
}
