import FaultlineTestSupport
import Foundation
import Testing

/// The bounds and the table of `make memory-matrix`, from results that are written here.
struct MemoryMatrixTests {
    /// A result of the flat shape.
    private struct Cell {
        var kind = "streamed"
        var size: Int
        var ceiling = 16
        /// In MiB.
        var peak: Int
        var isRight = true
        var commit = "abc"

        var line: String {
            """
            {"cell":{"ceiling":\(ceiling),"kind":"\(kind)","shape":"flat","size":\(size)},"commit":"\(commit)",\
            "counted":0,"peak":\(peak << 20),"right":\(isRight),"seconds":1}
            """
        }
    }

    private static func table(
        _ cells: [Cell], rest: String = "", commit: String = "abc", _ words: [String] = [],
        in folder: TemporaryDirectory = TemporaryDirectory()
    ) throws -> ProofProcess {
        let text = cells.map { $0.line + "\n" }.joined() + rest
        try Data(text.utf8).write(to: URL(filePath: folder.path + "/results.jsonl"))
        return try ProofProcess(
            ["matrix", folder.path, commit, "--shape", "flat", "--table"] + words, of: "MigrationProofs")
    }

    /// All cells of the shape, each within its bounds.
    private static var kept: [Cell] {
        ["lightweight", "streamed", "mapped", "policy", "custom"].flatMap { kind in
            [1_000_000, 4_000_000, 10_000_000].flatMap { size in
                [16, 64, 256].filter { $0 < 256 || size == 10_000_000 }.map {
                    Cell(kind: kind, size: size, ceiling: $0, peak: $0 + 15)
                }
            }
        }
    }

    @Test func `it passes if every cell was measured and keeps its bounds`() throws {
        let run = try Self.table(Self.kept)
        #expect(run.status == 0)
        #expect(run["measured"] == 35 && run["violations"] == 0)
        #expect(run.lines.contains("| flat | custom | 16 | 31.0 (0.0) | 31.0 (0.0) | 31.0 (0.0) | 0.0 |"))
        #expect(run.lines.contains("| flat | custom | 256 |  |  | 271.0 (0.0) |  |"))
    }

    @Test(arguments: [
        (
            Cell(size: 4_000_000, peak: 33),
            "violation: flat, streamed, 4000000 objects, 16 MiB: 33.0 MiB over the memory before"
        ),
        (
            Cell(size: 4_000_000, peak: 1, isRight: false),
            "violation: flat, streamed, 4000000 objects, 16 MiB: not all objects were migrated"
        ),
        (
            Cell(size: 4_000_000, peak: 0),
            "violation: flat, streamed, 4000000 objects, 16 MiB: no rise of the peak was measured"
        ),
        (Cell(size: 1_000_000, peak: 26), "violation: flat, streamed, 16 MiB: the peak grows by 5.0 MiB"),
    ])
    private func `it fails at a broken bound`(cell: Cell, message: String) throws {
        // The last line of a cell counts.
        let run = try Self.table(Self.kept + [cell])
        #expect(run.status == 1)
        #expect(run["violations"] == 1)
        #expect(run.lines.contains(message))
    }

    @Test func `a cell that was not measured is not passed`() throws {
        var cells = Self.kept
        cells.removeAll { $0.size == 4_000_000 && $0.kind == "streamed" && $0.ceiling == 16 }
        // Neither at another commit, nor by a line that was cut off.
        cells.append(Cell(size: 4_000_000, peak: 20, commit: "abd"))
        let run = try Self.table(cells, rest: String(Cell(size: 4_000_000, peak: 20).line.dropLast(2)))
        #expect(run.status == 1)
        #expect(run["measured"] == 34 && run["violations"] == 0)
        #expect(run.lines.contains("| flat | streamed | 16 | 31.0 (0.0) | not run | 31.0 (0.0) | 0.0 |"))
    }

    @Test func `a slope above its bound is bold`() throws {
        let run = try Self.table(Self.kept + [Cell(size: 1_000_000, peak: 26)])
        #expect(run.lines.contains("| flat | streamed | 16 | 26.0 (0.0) | 31.0 (0.0) | 31.0 (0.0) | **5.0** |"))
    }

    /// All sources that were changed since a commit have one name.
    @Test func `results of changed sources are not used again`() throws {
        let cells = Self.kept.map { Cell(kind: $0.kind, size: $0.size, ceiling: $0.ceiling, peak: 1, commit: "abc+") }
        let run = try Self.table(cells, commit: "abc+")
        #expect(run.status == 1)
        #expect(run["measured"] == 0)
    }

    @Test func `cells can be measured again, and those of one kind`() throws {
        let run = try Self.table(Self.kept, ["--kind", "streamed", "--fresh"])
        #expect(run.status == 1)
        #expect(run["cells"] == 7 && run["measured"] == 0)
        let kept = try Self.table(Self.kept, ["--kind", "streamed"])
        #expect(kept.status == 0)
        #expect(kept["cells"] == 7 && kept["measured"] == 7)
    }

    @Test func `a line behind one that was cut off counts`() throws {
        let folder = TemporaryDirectory()
        _ = try Self.table([Cell(size: 1_000_000, peak: 1)], rest: "{\"cell\":{", in: folder)
        let file = folder.path + "/results.jsonl"
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        try Data((text + Cell(size: 4_000_000, peak: 1).line).utf8).write(to: URL(filePath: file))
        let run = try ProofProcess(["matrix", folder.path, "abc", "--shape", "flat", "--table"], of: "MigrationProofs")
        #expect(run["measured"] == 2)
    }

    @Test func `the document gets all cells, and the lines are those of the commit`() throws {
        let folder = TemporaryDirectory()
        let (document, lines) = (folder.path + "/document.md", folder.path + "/lines.jsonl")
        let marks = "<!-- memory-matrix: written by make memory-matrix RECORD=1 -->\n<!-- end of memory-matrix -->\n"
        try Data(marks.utf8).write(to: URL(filePath: document))
        let cells = Self.kept + [Cell(size: 1_000_000, peak: 20, commit: "abd"), Cell(size: 1_000_000, peak: 29)]
        let words = ["--document", document, "--lines", lines]
        let run = try Self.table(cells, words, in: folder)
        #expect(run.status == 0)
        let text = try String(contentsOf: URL(filePath: document), encoding: .utf8).split(separator: "\n")
        #expect(text.contains("| flat | streamed | 16 | 29.0 (0.0) | 31.0 (0.0) | 31.0 (0.0) | 2.0 |"))
        #expect(text.contains("| values | custom | 256 |  |  | not run |  |"))
        let written = try String(contentsOf: URL(filePath: lines), encoding: .utf8).split(separator: "\n")
        #expect(written.count == 35 && written.allSatisfy { $0.contains("\"commit\":\"abc\"") })
    }
}
