/// Reads only the file of a serial life, and checks that all contexts saw one order of the saves.
///
/// The numbers of the transactions are the order. Each save equals its changes applied to the state before it, where
/// all rules hold. Each read equals the state that the context shows, with its unsaved changes. A fetch that begins
/// after a save has returned shows it, and no context goes back.
package struct SerialCheck {
    private let threads: [[SerialEvent]]
    private let canary: SerialCanary?

    /// Reads the lines of a file.
    ///
    /// - Throws: `GraphViolation` for an invalid line.
    init(_ lines: [Substring], canary: SerialCanary? = nil) throws {
        let events = try lines.map { line in
            guard let event = SerialEvent(line) else { throw GraphViolation("not an event: \(line)") }
            return event
        }
        threads = Dictionary(grouping: events, by: \.thread).sorted { $0.key < $1.key }.map(\.value)
        self.canary = canary
    }

    package struct Outcome: Sendable {
        package var operationCount = 0
        package var saveCount = 0
        /// How often a save directly follows one of another thread: rarely, unless threads run at the same time.
        package var alternationCount = 0
        package var refusalCount = 0
        /// The number of reads that were compared.
        package var readCount = 0
        package var kinds: Set<String> = []
    }

    /// Replays the file.
    ///
    /// - Throws: `GraphViolation` at the first difference.
    func run() throws -> Outcome {
        var outcome = Outcome()
        let state = try self.state(&outcome)
        for events in threads {
            var reader = SerialReader(state: state)
            for (place, event) in events.enumerated() {
                do { try reader.take(event) } catch {
                    let trace = events[max(0, place - 12)...place].map(\.line).joined(separator: "; ")
                    throw GraphViolation("thread \(event.thread): \(error)\n  \(trace)")
                }
                outcome.kinds.insert(event.kind.rawValue)
            }
            outcome.operationCount += events.count
            outcome.readCount += reader.readCount
        }
        return outcome
    }

    /// The states that the saves of all threads make, behind which every refusal was right.
    private func state(_ outcome: inout Outcome) throws -> SerialState {
        var saves: [(sequence: Int, thread: Int, save: SerialSave)] = []
        var refusals: [(thread: Int, refusal: SerialRefusal)] = []
        for events in threads {
            var save = SerialSave(.objectTrump)
            var findings: Set<SerialFinding> = []
            var moved = 0
            for event in events {
                switch event.kind {
                case .save:
                    saves.append((event.numbers[0], event.thread, save))
                    save = SerialSave(save.policy)
                case .finding:
                    guard let finding = SerialFinding(event.numbers) else {
                        throw GraphViolation("no rule: \(event.line)")
                    }
                    findings.insert(finding)
                case .refuse:
                    refusals.append((event.thread, SerialRefusal(save, findings, event.numbers[0]...event.numbers[1])))
                    findings = []
                    save = SerialSave(save.policy)
                case .rollback, .reset: save = SerialSave(save.policy)
                case .policy:
                    guard canary != .policies, let policy = SerialPolicy(rawValue: event.numbers[0]) else { continue }
                    save = SerialSave(policy)
                case .refresh: save.rebase(at: event.snapshot)
                default:
                    if let change = event.change { save.add(change, at: event.snapshot, movedOnAt: moved) }
                }
                if event.kind.movesContextOn { moved = event.snapshot }
            }
        }
        outcome.saveCount = saves.count
        outcome.refusalCount = refusals.count
        var state = SerialState(isBoundBroken: canary == .bounds)
        saves.sort { $0.sequence < $1.sequence }
        outcome.alternationCount = zip(saves, saves.dropFirst()).count { $0.thread != $1.thread }
        for save in saves {
            try state.save(save.save, at: save.sequence)
        }
        for (thread, refusal) in refusals {
            do { try refusal.check(state) } catch { throw GraphViolation("thread \(thread): \(error)") }
        }
        return state
    }
}

extension SerialEvent {
    /// The change that the event makes; nil if it makes none.
    var change: SerialState.Change? {
        switch kind {
        case .name: .name(numbers[0], numbers[1], policy: numbers[2])
        case .insert: SerialKind(rawValue: numbers[1]).map { .insert(numbers[0], $0) }
        case .set: .set(numbers[0], slot: numbers[1], numbers[2])
        case .refer: .refer(numbers[0], to: numbers[1])
        case .delete: .delete(numbers[0])
        default: nil
        }
    }
}
