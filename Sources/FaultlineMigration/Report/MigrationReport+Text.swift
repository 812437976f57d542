import FaultlineDisk

extension MigrationReport: CustomStringConvertible {
    /// The versions and the counts, in one line.
    public var description: String {
        guard !versions.isEmpty else { return "nothing to migrate" }
        var parts = [
            "\(objectsRead) objects read", "\(objectsWritten) written", "\(objectsFound) found",
            "\(objectsDropped) dropped", "\(blobsMoved) blobs moved", "\(blobsLeftBehind) left behind",
            "blob bytes: \(blobBytesMoved) moved", "\(blobBytesRead) read", "\(blobBytesWritten) written",
            "\(resumes) resumes",
        ]
        if objectsCopied > 0 { parts.append("\(objectsCopied) copied") }
        if objectsDeleted > 0 { parts.append("\(objectsDeleted) deleted") }
        if quarantinedCount > 0 { parts.append("\(quarantinedCount) in quarantine") }
        if changesNotSaved > 0 { parts.append("\(changesNotSaved) changed and not saved") }
        return "\(versions.joined(separator: " → ")): \(parts.joined(separator: ", "))"
    }

    /// The whole report for people: a line for each stage, entity and mapping, and the cost of each pass.
    ///
    /// - Complexity: O(n) for n stages, entities, mappings and failures.
    public var text: String {
        guard !versions.isEmpty else { return stopLine.map { "not migrated\n\($0)\n" } ?? "nothing to migrate\n" }
        var lines = [
            "\(versions.joined(separator: " → ")): \(ReportFigure.seconds(nanoseconds)), "
                + "\(ReportFigure.bytes(bytesWritten)) written\(Self.resumed(resumes))"
        ]
        for (place, stage) in stages.enumerated() {
            lines.append(
                "  stage \(place + 1) of \(stages.count), \(stage.kind.rawValue), to \(stage.to)"
                    + Self.resumed(stage.resumes) + Self.restarted(stage.restarts))
            lines += Self.table(stage.entities)
            if !stage.mappings.isEmpty { lines += ["    by mapping"] + Self.table(stage.mappings) }
            for left in stage.leftBehind {
                let name = left.attribute.map { "\(left.entity).\($0)" } ?? left.entity
                lines.append("    left behind: \(name) of \(left.objects) objects")
            }
            lines += stage.properties.filter { $0.had > 0 || $0.have > 0 }.map(Self.line)
            lines += Self.costs(stage.passes)
        }
        if [blobsMoved, blobBytesMoved, blobBytesRead, blobBytesWritten].contains(where: { $0 > 0 }) {
            lines.append(
                "  large values: \(ReportFigure.count(blobsMoved)) moved (\(ReportFigure.bytes(blobBytesMoved))), "
                    + "\(ReportFigure.bytes(blobBytesRead)) read, \(ReportFigure.bytes(blobBytesWritten)) written")
        }
        lines += Self.costs(lastPasses)
        if changesNotSaved > 0 { lines.append("  \(changesNotSaved) objects were changed and not saved") }
        for taken in quarantined {
            lines.append(
                "  \(isDryRun ? "would go into the quarantine" : "in quarantine"): \(taken.objects) \(taken.objects == 1 ? "object" : "objects") of \(taken.entity), to \(taken.stage): \(taken.rule.rawValue)"
            )
        }
        if let gracePeriod {
            lines.append(
                "  can be rolled back until \(UTCDate.text(secondsSince1970: Int64(gracePeriod.until))): holds \(ReportFigure.bytes(gracePeriod.bytes))"
            )
        }
        if isDryRun { lines += dryRunLines }
        if let stopLine { lines.append(stopLine) }
        return lines.joined(separator: "\n") + "\n"
    }

    private var dryRunLines: [String] {
        var lines = [
            "  dry run\(sample.map { " of at most \($0) objects of each entity" } ?? ""): needs \(ReportFigure.bytes(diskBytesNeeded)) of disk, \(ReportFigure.bytes(diskBytesFree)) are free; "
                + "\(failures.count) failures\(isIncomplete ? ", and it ended there" : "")"
        ]
        for failure in failures {
            let object = failure.object.map { " \($0)" } ?? ""
            let property = failure.property.map { ".\($0)" } ?? ""
            lines.append(
                "    \(failure.rule.rawValue): \(failure.entity)\(object)\(property), to \(failure.stage): \(failure.reason)"
            )
        }
        return lines
    }

    private static func resumed(_ resumes: Int) -> String {
        switch resumes {
        case 0: ""
        case 1: ", taken up again once"
        default: ", taken up again \(resumes) times"
        }
    }

    private static func restarted(_ restarts: Int) -> String {
        switch restarts {
        case 0: ""
        case 1: ", begun again once for its revision or on request"
        default: ", begun again \(restarts) times for its revision or on request"
        }
    }

    /// Columns that are 0 everywhere are left out.
    private static func table(_ objects: [Objects]) -> [String] {
        let columns = [
            ("read", objects.map(\.read)), ("written", objects.map(\.written)), ("found", objects.map(\.found)),
            ("dropped", objects.map(\.dropped)), ("copied", objects.map(\.copied)),
            ("deleted", objects.map(\.deleted)),
        ].filter { $0.1.contains { $0 != 0 } }
        let nameWidth = objects.map(\.name.count).max() ?? 0
        return objects.indices.map { row in
            let name = objects[row].name
            let figures = columns.map { title, figures in
                let width = figures.map { "\($0)".count }.max() ?? 0
                let figure = "\(figures[row])"
                return String(repeating: " ", count: width - figure.count) + "\(figure) \(title)"
            }
            return "    \(name)" + String(repeating: " ", count: nameWidth - name.count + 2)
                + figures.joined(separator: "  ")
        }
    }

    private static func line(_ property: Property) -> String {
        "    \(property.entity).\(property.name): \(ReportFigure.count(property.had)) had a value, "
            + "\(ReportFigure.count(property.have)) of the new objects have one"
            + (property.isCarriedOver ? ", carried over" : "")
    }

    private static func costs(_ passes: [Pass]) -> [String] {
        guard !passes.isEmpty else { return [] }
        let parts = passes.map {
            "\($0.pass.rawValue) \(ReportFigure.seconds($0.nanoseconds)) \(ReportFigure.bytes($0.bytesWritten))"
        }
        return ["    \(parts.joined(separator: ", "))"]
    }
}

/// Figures as people read them.
private enum ReportFigure {
    /// Seconds with three digits after the point.
    static func seconds(_ nanoseconds: Int) -> String {
        let milliseconds = nanoseconds / 1_000_000
        let digits = "\(milliseconds % 1_000)"
        return "\(milliseconds / 1_000).\(String(repeating: "0", count: 3 - digits.count))\(digits) s"
    }

    /// A count, with a comma between thousands.
    static func count(_ count: Int) -> String {
        let digits = Array(String(count))
        return digits.indices.map { place in
            let rest = digits.count - place
            return (place > 0 && rest % 3 == 0 ? "," : "") + String(digits[place])
        }.joined()
    }

    /// Whole kibibytes.
    static func bytes(_ count: Int) -> String { "\((count + 1_023) / 1_024) KiB" }
}
