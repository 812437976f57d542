extension SchemaLock {
    /// Checks that a plan matches its lock.
    ///
    /// - Parameter written: The lock from the file.
    /// - Throws: `SchemaLockError.differs`, with every difference: a version that changed under the same number, with
    ///   its facts before and after; one whose lines in the file belong to another; one that is missing and not named
    ///   as dropped; one that is not locked yet.
    /// - Complexity: O(v n) for v versions of n properties.
    public func check(against written: SchemaLock) throws(SchemaLockError) {
        var problems: [String] = []
        var numbers: [Schema.Version] = []
        for before in written.versions {
            guard let problem = problem(with: before) else { continue }
            problems.append(problem)
            numbers.append(before.number)
        }
        for version in versions where written.version(version.number) == nil {
            problems.append("Version \(version.number) is not locked yet. Write the lock anew, and review the file.")
            numbers.append(version.number)
        }
        guard !problems.isEmpty else { return }
        throw SchemaLockError(.differs, numbers.count == 1 ? numbers[0] : nil, problems.joined(separator: "\n"))
    }

    private func problem(with before: Version) -> String? {
        guard let now = version(before.number) else {
            return """
                Version \(before.number) is gone. Stores of it cannot be opened any more: list it in the plan again, or \
                name it in droppedVersions, with the last release that can migrate it.
                """
        }
        if before.lastRelease != nil, now.lastRelease == nil {
            return "Version \(before.number) was dropped, and is there again. Give it another number."
        }
        guard now.fingerprint != before.fingerprint else {
            if now.lastRelease != nil || now.entities == before.entities { return nil }
            return
                "The lines of version \(before.number) are not those of its fingerprint. Restore the file, or write it anew."
        }
        let lines = changedLines(from: before, to: now)
        return """
            Version \(before.number) has changed, and kept its number. Leave it as it was released, and put the change \
            into a version of its own:
            \(lines.joined(separator: "\n"))
            """
    }

    /// The removed and the added lines, entity by entity.
    private func changedLines(from before: Version, to now: Version) -> [String] {
        let names =
            before.entities.map(\.name)
            + now.entities.map(\.name).filter { name in
                !before.entities.contains { $0.name == name }
            }
        return names.flatMap { name -> [String] in
            let old = before.entities.first { $0.name == name }
            let new = now.entities.first { $0.name == name }
            guard old?.fingerprint != new?.fingerprint else { return [] }
            let removed = (old?.facts ?? []).filter { !(new?.facts ?? []).contains($0) }.map { "  - \($0)" }
            let added = (new?.facts ?? []).filter { !(old?.facts ?? []).contains($0) }.map { "  + \($0)" }
            let sign = old == nil ? "+" : new == nil ? "-" : " "
            return ["\(sign) \(name)"] + removed + added
        }
    }
}
