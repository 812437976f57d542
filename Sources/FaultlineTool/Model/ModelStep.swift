import FaultlineCommands
import FaultlineCoreData
import FaultlineModel

/// The way from one version of a model to another.
struct ModelStep {
    let from: String
    let to: String
    let difference: SchemaDifference

    init(from: ModelVersion, to: ModelVersion) {
        self.from = from.name
        self.to = to.name
        difference = to.schema.difference(from: from.schema)
    }

    /// The step and its changes, a line each.
    var text: String {
        let kind = difference.isEmpty ? "nothing changes" : "\(difference.demand)"
        let lines = difference.changes.map { change in
            let demand = change.demand == .lightweight ? "" : " (\(change.demand))"
            return "    \(change.summary)\(demand). \(change.reason)"
        }
        return (["\(from) to \(to): \(kind)"] + lines).joined(separator: "\n") + "\n"
    }

    /// The step as JSON.
    var line: JSONLine {
        var line = JSONLine()
        line.add("from", from)
        line.add("to", to)
        line.add("migration", "\(difference.demand)")
        line.add(
            "changes",
            difference.changes.map { change in
                var line = JSONLine()
                line.add("change", change.summary)
                line.add("migration", "\(change.demand)")
                line.add("reason", change.reason)
                return line
            })
        return line
    }
}
