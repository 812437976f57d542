import FaultlineCommands

extension StoreCheck {
    /// Checks a store, prints each finding at once, and shows progress on a terminal.
    ///
    /// - Returns: The check, done, and how many findings there were.
    /// - Throws: `CommandFailure` if the store cannot be read on.
    static func show(_ store: OpenedStore, asJSON: Bool) throws -> (check: StoreCheck, findingCount: Int) {
        var progress: ProgressLine?
        defer { progress?.finish() }
        var list = StoreFindingList(asJSON: asJSON)
        let check = StoreCheck(store) { finding in
            progress?.finish()
            list.add(finding)
        }
        try CommandFailure.working {
            try check.run { done, total in
                if progress == nil { progress = ProgressLine("verifying", total: total, unit: "bytes") }
                progress?.update(done)
            }
        }
        progress?.finish()
        list.finish()
        if !asJSON {
            for references in check.dangling { Terminal.output.write("\(references)\n") }
            if let orphans = check.orphans.sentence { Terminal.output.write("\(orphans)\n") }
        }
        return (check, list.count)
    }
}
