package import FaultlineLog
internal import FaultlineText

/// The objects that a search has found, with the numbers that their rank is made of.
package struct TextFindings: Sendable {
    /// The objects, in the order in which they were found.
    package private(set) var ids: [RecordID] = []
    /// For each object, each ranked phrase, each field: how often.
    private var counts: [UInt32] = []
    /// For each object: its words.
    private var lengths: [UInt32] = []
    /// How many objects have each ranked phrase.
    private(set) var documentFrequencies: [Int]
    var totals: TextTotals
    private let plan: TextPlan

    init(_ plan: TextPlan) {
        self.plan = plan
        documentFrequencies = Array(repeating: 0, count: plan.ranked.count)
        totals = TextTotals(fieldCount: plan.fieldCount)
    }

    package var count: Int { ids.count }

    /// Adds an object without the numbers of a rank.
    mutating func append(_ id: RecordID) { ids.append(id) }

    /// Adds an object, with how often it has each ranked phrase in each field.
    mutating func append(_ id: RecordID, _ found: some Collection<UInt32>, length: Int) {
        ids.append(id)
        counts.append(contentsOf: found)
        lengths.append(UInt32(clamping: length))
    }

    /// Counts objects that have a ranked phrase.
    mutating func countDocuments(_ count: Int = 1, rank: Int) { documentFrequencies[rank] += count }

    /// Adds an object whose texts were evaluated without the index: to the findings if the query selects it, to the
    /// numbers of all objects in any case.
    package mutating func take(_ document: TextDocument, _ id: RecordID, ranks: Bool) {
        var found = PhraseCounts(plan)
        let isMatch = document.matches(&found)
        guard ranks else {
            if isMatch { append(id) }
            return
        }
        for (rank, phrase) in plan.ranked.enumerated() where document.has(phrase) { countDocuments(rank: rank) }
        _ = totals.add(document.lengths)
        if isMatch { append(id, found.numbers, length: document.lengths.reduce(0, +)) }
    }

    /// The rank of each object by BM25.
    ///
    /// - Parameter index: The index, which has the weights of the fields.
    /// - Returns: A rank for each object, in their order.
    package func scores(_ index: TextIndex) -> [Double] {
        let statistics = BM25.Statistics(documentCount: totals.documentCount, termCounts: totals.lengths)
        let averageLength = statistics.averageLength
        let inverse = documentFrequencies.map { BM25.inverseFrequency(of: $0, in: statistics) }
        let fieldCount = plan.fieldCount
        return ids.indices.map { place in
            var score = 0.0
            for rank in inverse.indices {
                let start = (place * inverse.count + rank) * fieldCount
                var frequency = 0.0
                for field in 0..<fieldCount { frequency += Double(counts[start + field]) * index.weights[field] }
                guard frequency > 0 else { continue }
                score += BM25.score(
                    frequency: frequency, inverseFrequency: inverse[rank], length: Double(lengths[place]),
                    averageLength: averageLength)
            }
            return score
        }
    }
}
