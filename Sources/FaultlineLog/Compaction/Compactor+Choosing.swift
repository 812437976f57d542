import FaultlineDisk

extension Compactor {
    /// Whether choosing may find something, by the counted dead bytes: cheap, and only a hint.
    ///
    /// Deletes and abandoned blobs are not counted, so choosing is also worthwhile whenever the segments have doubled.
    func mayBeDue(minimumGain: UInt64) -> Bool {
        let dead = sequencer.turn.withLock { sequencer.deadByteCounts() }
        var sums: [Bool: (dead: UInt64, total: UInt64)] = [:]
        var isMostlyDead = false
        let state = manifest.state
        for (number, file) in state.files where file.kind.isSegment {
            guard let seal = file.seal, !state.isKept(number) else { continue }
            let own = min(dead[UInt32(truncatingIfNeeded: number)] ?? 0, seal.end)
            let sum = sums[file.kind == .blobSegment] ?? (0, 0)
            sums[file.kind == .blobSegment] = (sum.dead + own, sum.total + seal.end)
            if own > seal.end / 4 * 3 { isMostlyDead = true }
        }
        var all: (dead: UInt64, total: UInt64) = (0, 0)
        for sum in sums.values { all = (all.dead + sum.dead, all.total + sum.total) }
        if hasManySmall(state) { return true }
        if all.total >= max(countWithoutChoice.total * 2, minimumGain * 8) { return true }
        guard all.dead >= max(minimumGain, countWithoutChoice.dead + minimumGain / 2) else { return false }
        return isMostlyDead || sums.values.contains { $0.dead > $0.total / 3 }
    }

    private func hasManySmall(_ state: ManifestState) -> Bool {
        smallCount(state) > max(VictimChoice.Merging.usualCountMax, countWithoutChoice.small)
    }

    /// The number of small segments of one kind that may be merged.
    private func smallCount(_ state: ManifestState) -> Int {
        guard let checkpoint = state.checkpoint, checkpoint.file != 0 else { return 0 }
        let merging = VictimChoice.Merging(
            segmentByteCount: sequencer.turn.withLock { sequencer.account.segmentByteCount })
        return state.smallSegmentCount(below: merging.smallByteCount) { isSettled($0, checkpoint, state) }
    }

    /// Whether the last chosen segments, now done, freed that much, or excluded a segment; if not, they are not chosen
    /// again before more is dead.
    func wasWorthIt(minimumGain: UInt64) -> Bool {
        if gain.isWorthwhile(minimumGain: minimumGain, excludedCount: excluded.count) { return true }
        noteFutile()
        return false
    }

    private func noteFutile() {
        let state = manifest.state
        let total = state.files.reduce(UInt64(0)) { sum, file in
            guard file.value.kind.isSegment, !state.isKept(file.key) else { return sum }
            return sum + (file.value.seal?.end ?? 0)
        }
        countWithoutChoice.dead = reducible(sequencer.turn.withLock { sequencer.deadByteCounts() }, state)
        countWithoutChoice.total = total
    }

    /// Dead bytes that compaction may free: those of segments that no kept state has.
    private func reducible(_ dead: [UInt32: UInt64], _ state: ManifestState) -> UInt64 {
        dead.reduce(0) { $0 + (state.isKept(UInt64($1.key)) ? 0 : $1.value) }
    }

    /// Chooses the segments to compact, counting live bytes from the tables.
    ///
    /// - Parameters:
    ///   - minimumGain: The fewest bytes that a choice must free.
    ///   - copiedMax: About how many bytes to copy at most before the choice is made again.
    ///   - smallCountMax: The most small segments of one kind that are not merged.
    /// - Throws: Disk errors; `.damaged` where a table page does not verify.
    func choose(
        minimumGain: UInt64, copiedMax: UInt64 = .max, smallCountMax: Int = VictimChoice.Merging.usualCountMax
    ) throws(LogError) {
        precondition(!isUnderWay, "Segments are chosen when those chosen before are done.")
        let state = manifest.state
        guard let checkpoint = state.checkpoint, checkpoint.file != 0 else { return }
        let snapshot = publisher.snapshot
        let live = try LiveBytes(snapshot)
        if let error = live.unreadable { note(error) }
        let (dead, segmentByteCount) = sequencer.turn.withLock {
            (sequencer.deadByteCounts(), sequencer.account.segmentByteCount)
        }
        let merging = VictimChoice.Merging(segmentByteCount: segmentByteCount, countMax: smallCountMax)
        let segments = try records(live, dead, checkpoint, state)
        let blobs = state.files.values.filter { $0.kind == .blobSegment }.map { file in
            var segment = segment(
                file, live, [:], isCandidate: live.unreadable == nil && isSettled(file, checkpoint, state))
            if state.isKept(file.added.number) { segment.keep() }
            return segment
        }
        chosenAt = checkpoint.sequence
        let (records, mergedRecords) = victims(VictimChoice(segments, newest: snapshot.sequence))
        let (blobVictims, mergedBlobs) = victims(VictimChoice(blobs, newest: snapshot.sequence))
        func victims(_ choice: VictimChoice) -> (chosen: (numbers: [UInt64], gain: UInt64), merged: UInt64) {
            var chosen = choice.choose(minimumGain: minimumGain, copiedMax: copiedMax)
            let merges = choice.merges(merging, besides: chosen.numbers, copiedMax: min(copiedMax, segmentByteCount))
            chosen.numbers += merges.map(\.number)
            return (chosen, merges.reduce(0) { $0 + $1.byteCount })
        }
        gain.noteChoice(excludedCount: excluded.count, mergedByteCount: mergedRecords + mergedBlobs)
        waiting = records.numbers.reversed()
        whollyDead = Set(records.numbers.filter { live[$0] == 0 })
        let own = (segments + blobs).filter { !state.isKept($0.number) }
        countWithoutChoice = (0, own.reduce(0) { $0 + $1.byteCount }, 0)
        if records.numbers.isEmpty, blobVictims.numbers.isEmpty { countWithoutChoice.dead = reducible(dead, state) }
        if mergedRecords + mergedBlobs == 0 { countWithoutChoice.small = smallCount(state) }
        if !records.numbers.isEmpty || !blobVictims.numbers.isEmpty {
            noteBegun(predictedByteCount: records.gain + blobVictims.gain)
        }
        report.predictedByteCount += records.gain + blobVictims.gain
        guard !blobVictims.numbers.isEmpty else { return }
        blobMover = BlobMover(
            Set(blobVictims.numbers), directory: directory, manifest: manifest, publisher: publisher,
            sequencer: sequencer, options: options, begun: snapshot.sequence)
    }

    /// The hot and cold segments, with the segments that must go with each.
    private func records(
        _ live: LiveBytes, _ dead: [UInt32: UInt64], _ checkpoint: CheckpointPosition, _ state: ManifestState
    ) throws(LogError) -> [VictimChoice.Segment] {
        var segments: [VictimChoice.Segment] = []
        var stuck = excluded
        for (number, file) in state.files.sorted(by: { $0.key < $1.key })
        where file.kind == .hotSegment || file.kind == .coldSegment {
            var segment = segment(file, live, dead, isCandidate: isSettled(file, checkpoint, state))
            if file.kind == .hotSegment, segment.isCandidate || finished.contains(number),
                let beginning = try beginning(of: number, state)
            {
                if stuck.contains(beginning) { stuck.insert(number) }
                // A finished one goes with the next checkpoint.
                if !finished.contains(beginning) { segment.beginning = beginning }
            }
            // Damage in a kept segment is no reason to move everything else again and again.
            if stuck.contains(number) || state.isKept(number) { segment.keep() }
            segments.append(segment)
        }
        return segments
    }

    /// Bytes that sealing a segment must free at least: it costs some syncs.
    private static let sealedGainMin: UInt64 = 4_096

    /// The segments that are being written of which more than a quarter would be freed.
    func mostlyDeadOpenSegments() throws(LogError) -> Set<UInt64> {
        let state = manifest.state
        let live = try LiveBytes(publisher.snapshot)
        var numbers: Set<UInt64> = []
        for (number, file) in state.files where file.kind.isSegment && file.seal == nil && !state.isKept(number) {
            if file.kind == .blobSegment, live.unreadable != nil { continue }
            let end = sequencer.turn.withLock { sequencer.account.segments.end(of: number) }
            let kept = live.copied(number) + UInt64(FileHeader.byteCount)
            if end - min(end, kept) > max(end / 4, Self.sealedGainMin) { numbers.insert(number) }
        }
        return numbers
    }

    /// Counts from the tables the dead bytes of sealed segments, if a table was dropped since the last count.
    ///
    /// A hint: segments that cannot be read keep their count.
    func countDropped() {
        let snapshot = publisher.snapshot
        let (drop, before) = sequencer.turn.withLock { (sequencer.account.uncountedDrop, sequencer.deadByteCounts()) }
        guard let drop, snapshot.sequence >= drop else { return }
        let live = try? LiveBytes(snapshot)
        let state = manifest.state
        sequencer.turn.withLock {
            if sequencer.account.uncountedDrop == drop { sequencer.account.uncountedDrop = nil }
            guard let live else { return }
            var dead = sequencer.deadByteCounts()
            for (number, file) in state.files where file.kind.isSegment {
                // Transactions after the snapshot are live, and not counted here.
                guard let seal = file.seal, seal.lastSequence <= snapshot.sequence else { continue }
                let key = UInt32(truncatingIfNeeded: number)
                let since = (dead[key] ?? 0) - min(before[key] ?? 0, dead[key] ?? 0)
                dead[key] = min(seal.end - min(live[number], seal.end) + since, seal.end)
            }
            sequencer.account.segments.setDead(dead)
            sequencer.account.note()
        }
    }

    private func segment(
        _ file: ManifestState.FileEntry, _ live: LiveBytes, _ dead: [UInt32: UInt64], isCandidate: Bool
    ) -> VictimChoice.Segment {
        let number = file.added.number
        let end = file.seal?.end ?? sequencer.turn.withLock { sequencer.account.segments.end(of: number) }
        let liveByteCount = min(live[number], end)
        let counted = dead[UInt32(truncatingIfNeeded: number)] ?? 0
        // Bytes that are neither live nor counted as dead belong to deletes.
        let deletes = file.kind == .blobSegment || end < liveByteCount + counted ? 0 : end - liveByteCount - counted
        return VictimChoice.Segment(
            number: number, byteCount: end, liveByteCount: liveByteCount, copiedByteCount: live.copied(number),
            deleteByteCount: deletes > UInt64(FileHeader.byteCount) ? deletes : 0, begun: file.added.begun,
            lastSequence: file.seal?.lastSequence ?? .max, isCandidate: isCandidate)
    }

    /// Whether it is known which of the segment's records the checkpoint in force needs, with no open transaction in it.
    private func isSettled(
        _ file: ManifestState.FileEntry, _ checkpoint: CheckpointPosition, _ state: ManifestState
    ) -> Bool {
        guard let seal = file.seal, !excluded.contains(file.added.number), !finished.contains(file.added.number) else {
            return false
        }
        switch file.kind {
        case .hotSegment: return file.added.number < checkpoint.segment
        case .coldSegment: return file.moves == nil
        // The transaction that wrote its last blob has ended.
        case .blobSegment: return seal.lastSequence <= checkpoint.sequence
        default: return false
        }
    }
}
