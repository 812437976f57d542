import FaultlineDisk
import FaultlineTestSupport
import Foundation
import Glibc

/// Measures the peaks of migrations of many shapes and sizes, each in a child process, and goes on where it was broken
/// off.
///
/// A peak must stay within the ceiling plus 16 MiB over the memory before, and that of the largest store within 4 MiB of
/// that of the smallest.
struct MatrixProof {
    private let folder: String
    private let commit: String
    private let cells: [MatrixCell]
    /// Gets the table of all cells.
    private let document: String?
    /// Gets the lines of the commit.
    private let lines: String?
    /// Whether missing cells are measured.
    private let measures: Bool
    /// Whether results on record are not used.
    private let isFresh: Bool

    /// Removed at the end if the cells are not recorded.
    private let temporary: TemporaryDirectory?

    /// - Parameter arguments: `FOLDER COMMIT`, with a dash for a folder that is removed at the end; then `--smallest`,
    ///   `--shape NAME`, `--kind NAME`, `--fresh`, `--table`, `--document FILE`, `--lines FILE`, in any order.
    /// - Throws: `WrongUsage`.
    init(_ arguments: [String]) throws {
        var words = arguments[...]
        guard let folder = words.popFirst(), let commit = words.popFirst() else {
            throw WrongUsage(message: "matrix needs a folder and a commit")
        }
        var cells = MatrixCell.all
        var document: String?
        var lines: String?
        var measures = true
        var isFresh = false
        while let word = words.popFirst() {
            switch word {
            case "--smallest":
                cells.removeAll {
                    $0.size != $0.shape.sizes[0] || $0.ceiling != MatrixCell.ceilings[0]
                        || $0.kind != $0.shape.kindInGate
                }
            case "--shape":
                guard let shape = words.popFirst().flatMap(MatrixCell.Shape.init) else {
                    let names = MatrixCell.Shape.allCases.map(\.rawValue).joined(separator: ", ")
                    throw WrongUsage(message: "--shape needs one of \(names)")
                }
                cells.removeAll { $0.shape != shape }
            case "--kind":
                guard let kind = words.popFirst().flatMap(MatrixCell.Kind.init) else {
                    let names = MatrixCell.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw WrongUsage(message: "--kind needs one of \(names)")
                }
                cells.removeAll { $0.kind != kind }
            case "--fresh": isFresh = true
            case "--table": measures = false
            case "--lines":
                guard let file = words.popFirst() else { throw WrongUsage(message: "--lines needs a file") }
                lines = file
            case "--document":
                guard let file = words.popFirst() else { throw WrongUsage(message: "--document needs a file") }
                document = file
            default: throw WrongUsage(message: "matrix has no \(word)")
            }
        }
        temporary = folder == "-" ? TemporaryDirectory() : nil
        self.folder = temporary?.path ?? folder
        self.commit = commit
        self.cells = cells
        self.document = document
        self.lines = lines
        self.measures = measures
        self.isFresh = isFresh
    }

    func run() throws -> Int32 {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var record = try MatrixRecord(folder + "/results.jsonl", commit: commit)
        if isFresh { record.forget(cells) }
        if measures { removeStores() }
        var refused: [String] = []
        // Both ends first: they give the slope.
        for place in measures ? [0, 2, 1] : [] {
            for shape in MatrixCell.Shape.allCases {
                let size = shape.sizes[place]
                let missing = cells.filter { $0.shape == shape && $0.size == size && record[$0] == nil }
                guard !missing.isEmpty else { continue }
                if let refusal = try spaceRefusal(shape, size) {
                    refused.append(refusal)
                    continue
                }
                try measure(missing, shape, size, &record)
            }
        }
        let table = MatrixTable(record, cells)
        print(table.text)
        refused.forEach { print("refused: \($0)") }
        table.violations.forEach { print("violation: \($0)") }
        if let document { try MatrixTable(record, MatrixCell.all).write(to: document) }
        if let lines { try record.copy(to: lines) }
        print(
            """
            {"cells":\(cells.count),"measured":\(cells.count { record[$0] != nil }),\
            "violations":\(table.violations.count)}
            """)
        return table.violations.isEmpty && cells.allSatisfy { record[$0] != nil } ? 0 : 1
    }

    private func measure(
        _ cells: [MatrixCell], _ shape: MatrixCell.Shape, _ size: Int, _ record: inout MatrixRecord
    ) throws {
        let prepared = prepared(shape, size)
        ProofShell.note("preparing \(shape.rawValue), \(size) objects")
        let preparation = try ProofProcess(
            ["matrix-prepare", shape.rawValue, "\(size)", prepared], of: "MigrationProofs")
        guard preparation.status == 0 else {
            throw MatrixError(description: "\(prepared) could not be made (status \(preparation.status))")
        }
        for cell in cells {
            try FileManager.default.copyItem(atPath: prepared, toPath: copy)
            let run = try ProofProcess(
                [
                    "matrix-cell", cell.shape.rawValue, cell.kind.rawValue, "\(cell.size)", "\(cell.ceiling)", commit,
                    copy,
                ], of: "MigrationProofs")
            if run.status == 0, let line = run.lines.last {
                print(line)
                try record.append(line)
            } else {
                print("failed: \(cell.name): status \(run.status)")
            }
            fflush(nil)
            TemporaryDirectory.remove(copy)
        }
        TemporaryDirectory.remove(prepared)
    }

    private func prepared(_ shape: MatrixCell.Shape, _ size: Int) -> String {
        "\(folder)/\(shape.rawValue)-\(size)"
    }

    private var copy: String { "\(folder)/run" }

    /// Removes the stores that a run left which was broken off: other sources may have made them.
    private func removeStores() {
        TemporaryDirectory.remove(copy)
        for shape in MatrixCell.Shape.allCases {
            for size in shape.sizes { TemporaryDirectory.remove(prepared(shape, size)) }
        }
    }

    /// Returns the reason why the disk has too little room for a shape and a size; nil if it has enough.
    private func spaceRefusal(_ shape: MatrixCell.Shape, _ size: Int) throws -> String? {
        let needed = size * shape.byteCountOfObject + 1 << 30
        let free = Int(clamping: try PosixDisk().freeByteCount(in: folder))
        guard free < needed else { return nil }
        return """
            \(shape.rawValue), \(size) objects: needs \(Self.gibibytes(needed)) GiB in \(folder), which has \
            \(Self.gibibytes(free)): free some\(temporary == nil ? ", or choose another folder by MATRIX=FOLDER" : "")
            """
    }

    /// Down to a tenth.
    private static func gibibytes(_ byteCount: Int) -> String {
        let tenths = (byteCount / (1 << 20)) * 10 >> 10
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// A failure of the measuring itself.
struct MatrixError: Error, CustomStringConvertible {
    let description: String
}
