/// The cold segments of a store that is opened.
extension Opening {
    /// Replays the moves that the tables lack, or all records of the cold segments.
    mutating func replayCold(
        _ state: ManifestState, _ segments: [UInt64: ManagedFile], _ replay: inout Replay
    ) throws(LogError) {
        coldEnds.removeAll()
        for number in state.numbers(of: .coldSegment) {
            guard let managed = segments[number], let entry = state.files[number] else { continue }
            let whole = MovePosition(segment: number)
            var end = (offset: entry.durable, head: entry.durableHead)
            if entry.seal == nil {
                let found = try Replay.durableEnd(
                    of: managed, from: entry.moves ?? whole, durable: (entry.durable, entry.durableHead))
                coldEnds[number] = found
                end = (found.durable, found.durableHead)
            }
            guard let position = replay.newest == nil ? entry.moves : whole else { continue }
            try replay.replayCold(managed, from: position, end: end.offset, chain: end.head)
        }
    }

    /// The cold segment to continue.
    func openCold(_ state: ManifestState, _ segments: [UInt64: ManagedFile]) -> ColdSegment? {
        guard let number = state.numbers(of: .coldSegment).last, let entry = state.files[number],
            entry.seal == nil, let end = coldEnds[number], let managed = segments[number]
        else { return nil }
        return ColdSegment(managed, begun: entry.added.begun, end: end.durable, previousHead: end.durableHead)
    }
}
