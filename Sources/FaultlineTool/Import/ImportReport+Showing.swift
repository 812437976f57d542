#if Import
import FaultlineCommands
import FaultlineImport

extension ImportReport {
    /// The report as one line of JSON.
    var line: String {
        var line = JSONLine()
        line.add("complete", isComplete)
        line.add("resumed", isResumed)
        line.add("storeUUID", storeUUID)
        line.add("objects", objectCount)
        line.add("entities", entities.map(\.line))
        line.add("findings", findings.map(\.line))
        line.add("notes", notes)
        line.add("skipped", skippedEntities)
        if let findingsPath { line.add("findingsPath", findingsPath) } else { line.addNull("findingsPath") }
        return line.line
    }

    /// The report for people.
    ///
    /// - Parameter destination: The new store.
    /// - Returns: A table, and a line for each finding.
    func text(of destination: String) -> String {
        var table = Table([
            ("entity", .left), ("property", .left), ("values", .right), ("bytes", .right), ("hash", .left), ("", .left),
        ])
        for entity in entities {
            table.add([
                entity.name, "", Quantity.count(entity.destinationCount), "", "",
                entity.sourceCount == entity.destinationCount
                    ? "equal" : "\(Quantity.count(entity.sourceCount)) in the source",
            ])
            for column in entity.columns {
                table.add([
                    "", column.name, Quantity.count(column.destination.count),
                    Quantity.count(column.destination.byteCount), column.destination.hash,
                    column.isEqual ? "equal" : "\(column.source.hash) in the source",
                ])
            }
        }
        var text = table.text(isStyled: Terminal.output.isStyled)
        for note in notes { text += "note: \(note)\n" }
        if !skippedEntities.isEmpty { text += "skipped: \(skippedEntities.joined(separator: ", "))\n" }
        for finding in findings {
            let objects = finding.objects.map(String.init).joined(separator: ", ")
            let more = finding.count > finding.objects.count ? " …" : ""
            text +=
                "not carried over: \(finding.entity).\(finding.property), \(finding.reason.rawValue), \(Quantity.count(finding.count)): \(objects)\(more)\n"
        }
        if let findingsPath { text += "each of them with its value: \(findingsPath)\n" }
        return text + "\(Quantity.count(objectCount)) objects in \(destination)\n"
    }
}

extension ImportReport.Entity {
    fileprivate var line: JSONLine {
        var line = JSONLine()
        line.add("entity", name)
        line.add("source", sourceCount)
        line.add("destination", destinationCount)
        line.add("columns", columns.map(\.line))
        return line
    }
}

extension ImportReport.Column {
    fileprivate var line: JSONLine {
        var line = JSONLine()
        line.add("property", name)
        line.add("equal", isEqual)
        line.add("source", source.line)
        line.add("destination", destination.line)
        return line
    }
}

extension ImportReport.Side {
    fileprivate var line: JSONLine {
        var line = JSONLine()
        line.add("values", count)
        line.add("bytes", byteCount)
        line.add("hash", hash)
        return line
    }
}

extension ImportFinding {
    fileprivate var line: JSONLine {
        var line = JSONLine()
        line.add("entity", entity)
        line.add("property", property)
        line.add("reason", reason.rawValue)
        line.add("count", count)
        line.add("objects", objects)
        return line
    }
}
#endif
