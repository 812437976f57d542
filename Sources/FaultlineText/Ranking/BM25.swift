internal import Glibc

/// The rank of a document by Okapi BM25, as SQLite's FTS5 defines it (`bm25()`), with the opposite sign: the higher, the
/// better.
///
/// A phrase adds `idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / averageLength))`. `f` is the sum, over all fields,
/// of the phrase's occurrences times the field's weight. Lengths are terms in all fields.
package struct BM25: Sendable, Equatable {
    package static let k1 = 1.2
    package static let b = 0.75
    /// The weight of a phrase that half of the documents have, or more: FTS5's.
    package static let leastInverseFrequency = 1e-6

    /// By field.
    package let weights: [Double]

    /// Weights of fields; those that are missing are 1.
    package init(weights: [Double], fieldCount: Int) {
        self.weights = (0..<fieldCount).map { $0 < weights.count ? weights[$0] : 1 }
    }

    /// The number of documents in an index, and of terms in each of their fields.
    package struct Statistics: Sendable, Equatable {
        package var documentCount: Int
        package var termCounts: [Int]

        package init(documentCount: Int, termCounts: [Int]) {
            self.documentCount = documentCount
            self.termCounts = termCounts
        }

        /// Terms in a document; 1 where there is none, so that a rank is always a number.
        package var averageLength: Double {
            let count = termCounts.reduce(0.0) { $0 + Double($1) }
            return documentCount > 0 && count > 0 ? count / Double(documentCount) : 1
        }
    }

    /// How rare a phrase is that a number of documents have.
    package static func inverseFrequency(of documentFrequency: Int, in statistics: Statistics) -> Double {
        let having = Double(documentFrequency)
        let idf = log((Double(statistics.documentCount) - having + 0.5) / (having + 0.5))
        return idf > 0 ? idf : leastInverseFrequency
    }

    /// The part of a document's rank that one phrase has.
    ///
    /// - Parameters:
    ///   - frequency: Its occurrences, each times the weight of its field.
    ///   - inverseFrequency: How rare it is.
    ///   - length: Terms in the document.
    ///   - averageLength: Terms in a document of the index.
    /// - Returns: A number above 0.
    @inlinable
    package static func score(
        frequency: Double, inverseFrequency: Double, length: Double, averageLength: Double
    ) -> Double {
        inverseFrequency * (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + b * length / averageLength))
    }

    /// The rank of a document.
    ///
    /// - Parameters:
    ///   - frequencies: The occurrences in each field, for each phrase: `TextMatch.frequencies(phraseCount:)`.
    ///   - lengths: Terms in each field.
    ///   - documentFrequencies: How many documents have each phrase.
    ///   - statistics: Those of the index.
    /// - Returns: The higher, the better; 0 without an occurrence.
    package func score(
        frequencies: [[Int]], lengths: [Int], documentFrequencies: [Int], statistics: Statistics
    ) -> Double {
        let length = lengths.reduce(0.0) { $0 + Double($1) }
        let averageLength = statistics.averageLength
        return zip(frequencies, documentFrequencies).reduce(0.0) { sum, phrase in
            let frequency = zip(phrase.0, weights).reduce(0.0) { $0 + Double($1.0) * $1.1 }
            guard frequency > 0 else { return sum }
            return sum
                + Self.score(
                    frequency: frequency,
                    inverseFrequency: Self.inverseFrequency(of: phrase.1, in: statistics), length: length,
                    averageLength: averageLength)
        }
    }
}
