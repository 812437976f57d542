internal import Dispatch
internal import Faultline
internal import FaultlineObjects
internal import Synchronization

extension GraphSession {
    /// Reads all nodes as a stream of values, which must belong to one state: that of the first batch.
    ///
    /// - Parameters:
    ///   - size: The number of objects in a batch.
    ///   - between: Called after each batch; it may save.
    /// - Throws: `GraphViolation`; the errors of the stream and of `between`.
    func walkStream(_ size: Int, between: () throws -> Void) throws {
        let (wanted, named) = (world.committed, world.identifiers)
        let stream = world.container.stream(Self.descriptor, batchSize: size, including: [.collections])
        let reader = StreamReader()
        reader.begin(stream)
        defer { reader.end() }
        var copies: [ValueCopy] = []
        while let batch = try reader.next() {
            guard batch.count <= size else { throw GraphViolation("a batch has \(batch.count)") }
            copies += batch
            try between()
        }
        if world.canary == .streams { copies = copies.dropLast() }
        try expect("stream", copies.map { $0["key"]?.int ?? -1 }, Self.walked(wanted))
        for copy in copies { try compare(copy, wanted, named) }
    }

    private func compare(_ copy: ValueCopy, _ state: GraphState, _ named: [Int: PersistentIdentifier]) throws {
        let key = copy["key"]?.int ?? -1
        guard let node = state.nodes[key] else { throw GraphViolation("a stream has \(key)") }
        guard copy.id == named[key], copy["number"]?.int == node.number, copy["name"]?.string == node.name else {
            throw GraphViolation("a stream has \(copy.values) for \(key), \(node)")
        }
        for place in shape.ofKind[node.kind] {
            let property = shape.properties[place]
            let members = state.shown(key, place).compactMap { named[$0] }
            let found: [PersistentIdentifier]
            switch copy[String(property.name.drop { $0 != "." }.dropFirst())] {
            case .object(let one)?: found = [one]
            case .objects(let all)?: found = all
            case .null?: found = []
            default: throw GraphViolation("a stream has no \(property.name) of \(key)")
            }
            guard found == members else {
                throw GraphViolation("a stream has \(found) for \(property.name) of \(key) instead of \(members)")
            }
        }
    }
}

/// Reads a stream from a thread that waits for it.
///
/// Its task runs on its own queue, because all shared threads may be waiting.
private final class StreamReader: TaskExecutor {
    private let queue = DispatchQueue(label: "graph.stream")
    private let asked = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let received = Mutex<Result<[ValueCopy]?, any Error>>(.success(nil))
    private let hasEnded = Atomic(false)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Begins; no batch is read before it is requested.
    func begin(_ stream: ValueStream) {
        Task(executorPreference: self) { [self] in
            waitForQuestion()
            do {
                for try await batch in stream {
                    answer(.success(batch))
                    waitForQuestion()
                    if hasEnded.load(ordering: .acquiring) { return }
                }
                answer(.success(nil))
            } catch { answer(.failure(error)) }
        }
    }

    private func waitForQuestion() { asked.wait() }

    private func answer(_ result: Result<[ValueCopy]?, any Error>) {
        received.withLock { $0 = result }
        done.signal()
    }

    /// The next batch; nil after the last.
    func next() throws -> [ValueCopy]? {
        asked.signal()
        done.wait()
        return try received.withLock { $0 }.get()
    }

    /// Abandons a stream that is not read to its end.
    func end() {
        hasEnded.store(true, ordering: .releasing)
        asked.signal()
    }
}
