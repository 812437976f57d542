extension PackageSet {
    /// The set, repeated under new names until it has at least `leastObjectCount` objects.
    ///
    /// The packages of repetition k (2, 3, …) are named `name~k`, and so are their source packages and the targets of
    /// their relations. Every repetition is therefore a separate graph, including its dangling targets. Sections and
    /// maintainers are shared, and only the first has the large attributes: repeated bytes would measure nothing new.
    package func repeated(toAtLeast leastObjectCount: Int) -> PackageSet {
        let sourceCount = sources.count
        let perRepetition = packages.count + relations.count + sourceCount
        var missing = leastObjectCount - objectCount
        guard missing > 0, perRepetition > 0 else { return self }

        var result = self
        while missing > 0 {
            result.repetitionCount += 1
            result.append(self, suffix: "~\(result.repetitionCount)")
            missing -= perRepetition
        }
        return result
    }

    private mutating func append(_ set: PackageSet, suffix: String) {
        let packageOffset = packages.count
        let relationOffset = relations.count
        for var package in set.packages {
            package.name += suffix
            if !package.sourceName.isEmpty { package.sourceName += suffix }
            package.relations =
                (package.relations.lowerBound + relationOffset)..<(package.relations.upperBound + relationOffset)
            package.file = nil
            packages.append(package)
        }
        let offset = Int32(truncatingIfNeeded: packageOffset)
        for var relation in set.relations {
            relation.owner += offset
            relation.targetName += suffix
            if relation.target >= 0 { relation.target += offset }
            relations.append(relation)
        }
    }
}
