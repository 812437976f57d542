/// The cost of a step.
package struct StepFigures: Sendable {
    /// The memory beyond that of a process that only has the library loaded.
    package var memoryByteCount = 0
    package var seconds = 0.0
    /// Objects, or bytes, as the step counts.
    package var count = 0
    /// Bytes of values out of rows that were read.
    package var blobByteCount = 0

    /// The figures as lines, a key and a number each: a child process prints them.
    package var lines: String {
        "memory \(memoryByteCount)\nnanoseconds \(Int(seconds * 1e9))\ncount \(count)\nblob \(blobByteCount)\n"
    }

    package init() {}

    /// Reads the output of `lines`; other lines are ignored.
    package init(lines text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            switch words[0] {
            case "memory": memoryByteCount = number
            case "nanoseconds": seconds = Double(number) / 1e9
            case "count": count = number
            case "blob": blobByteCount = number
            default: continue
            }
        }
    }
}

extension Journal {
    /// The figures of a step that was finished in this run or an earlier one.
    package func figures(of step: String) -> StepFigures? {
        guard let nanoseconds = self[step + ".nanoseconds"] else { return nil }
        var figures = StepFigures()
        figures.seconds = Double(nanoseconds) / 1e9
        figures.memoryByteCount = self[step + ".memory"] ?? 0
        figures.count = self[step + ".count"] ?? 0
        figures.blobByteCount = self[step + ".blob"] ?? 0
        return figures
    }

    /// Records in the journal that a step is finished, and its cost.
    package func finish(_ step: String, _ figures: StepFigures) throws(SourceError) {
        try set([
            step + ".memory": figures.memoryByteCount, step + ".count": figures.count,
            step + ".blob": figures.blobByteCount, step + ".nanoseconds": Int(figures.seconds * 1e9),
        ])
    }
}
