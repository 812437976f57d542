/// The segments of the log that a state of the manifest lists.
extension ManifestState {
    /// Whether the first segment of the log is listed.
    package var hasLogBeginning: Bool {
        numbers(of: .hotSegment).first.flatMap { files[$0]?.added.begun } == 0
    }

    /// Whether no transaction is missing between two listed segments, from one on.
    ///
    /// A segment may begin with copies of transactions that the one before it has too.
    func isLogContinuous(from segment: UInt64 = 0) -> Bool {
        let log = numbers(of: .hotSegment).filter { $0 >= segment }.compactMap { files[$0] }
        return zip(log, log.dropFirst()).allSatisfy { $0.seal?.lastSequence ?? 0 >= $1.added.begun }
    }

    /// The known ends of the segments.
    var logEnds: [UInt64: UInt64] {
        files.filter { $0.value.kind == .hotSegment }.mapValues { $0.seal?.end ?? $0.durable }
    }
}
