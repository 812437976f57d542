import FaultlineDisk
import Glibc
import Synchronization

// Transactions: from the wait for the writer lock to the durable, visible state.

/// A transaction whose records are queued: it is neither durable nor visible before `Log.end` has returned.
package struct QueuedCommit {
    fileprivate let ending: Sequencer.Ending
    /// Whether it made a checkpoint due.
    fileprivate let isDue: Bool
    /// The time when it began, if commits are observed.
    fileprivate let begin: UInt64
    /// Tells when the commit is done, without a waiting thread of the caller; nil if `Log.end` waits.
    package let wait: CommitWait?
}

extension Log {
    /// Writes one transaction.
    ///
    /// Waits for the writer lock, runs `body`, queues its records, releases the lock, and returns when they are durable
    /// (`.sync`) and visible. If `body` throws, nothing of the transaction is kept.
    ///
    /// - Throws: The error of `body`; `.readOnly`, `.closed`, `.abandoned`; `.poisoned` if an earlier write failed;
    ///   `.outcomeUnknown` if this one did: then the transaction may exist after the store is opened again (see
    ///   `landed`). The error names it, unless its last frame was not reached.
    package func write<R>(
        author: String?, _ body: (inout Transaction) throws -> R
    ) throws -> (value: R, receipt: CommitReceipt) {
        var values: [R] = []
        let commit = try queue(author: author, isSuspending: false) { transaction in
            values.append(try body(&transaction))
        }
        return (values[0], try end(commit))
    }

    /// Writes the records of one transaction, and queues them; `end` must follow.
    ///
    /// Not generic: the instructions of a small commit are counted, and a value of any type takes hundreds.
    ///
    /// - Parameters:
    ///   - author: The author of the transaction.
    ///   - isSuspending: Whether the caller suspends its task until `QueuedCommit.wait` is done, and calls `end` then.
    ///   - isReady: Whether `makeReady` was called before: then the call waits for no work of the engine, as within the
    ///     turn of another store's writer.
    ///   - body: Makes the records.
    /// - Returns: The queued transaction.
    /// - Throws: As `write`, except for errors of the disk that `end` throws.
    package func queue(
        author: String?, isSuspending: Bool, isReady: Bool = false, _ body: (inout Transaction) throws -> Void
    ) throws -> QueuedCommit {
        let writing = try writable()
        let begin = writing.times?.now() ?? 0
        if !isReady { try makeReady(writing) }
        let sequencer = writing.sequencer
        do {
            return try inTurn(sequencer) {
                try checkOpen()
                var transaction = Transaction(sequencer)
                try body(&transaction)
                let ending = try sequencer.end(author: author)
                // In the writer's turn, so that the waits stand in the order of the queue.
                let wait =
                    isSuspending ? ending.request.flatMap { writing.waiter?.add($0, leads: ending.leads) } : nil
                return QueuedCommit(ending: ending, isDue: sequencer.isCheckpointDue, begin: begin, wait: wait)
            }
        } catch {
            // The bytes written for it take space, however it ended.
            watchSpace(writing)
            if !isReady, publisher.failure == nil, !hasEnded, writing.space.mayCheckpoint,
                sequencer.turn.withLock({ sequencer.isCheckpointDue })
            {
                maintain(writing)
            }
            throw error
        }
    }

    /// Waits for the work of the engine that the next transaction would wait for.
    ///
    /// - Throws: As `write`, before anything is written.
    package func makeReady() throws { try makeReady(try writable()) }

    private func makeReady(_ writing: Writing) throws {
        if options.maintenance == .thread { try makeOverdueCheckpoint(writing) }
        waitForSpace(writing)
    }

    /// Begins to write a large value beside transactions; `Transaction.putBlob` places it.
    ///
    /// May be called inside a transaction.
    ///
    /// - Throws: `.readOnly`, `.closed`, `.poisoned`, `.fullDisk`; disk errors of making a segment.
    package func beginUpload() throws(LogError) -> BlobUpload {
        let writing = try writable()
        try checkOpen()
        do throws(LogError) {
            return try BlobUpload(writing.sequencer.uploads, path: path, isCompressing: options.isCompressingBlobs)
        } catch {
            if error.code == .fullDisk { directory.noteFull(error) }
            throw error
        }
    }

    /// Returns when a queued transaction is durable (`.sync`) and visible; at once if its wait is done.
    ///
    /// - Throws: As `write`, for errors of the disk.
    package func end(_ commit: QueuedCommit) throws -> CommitReceipt {
        let writing = try writable()
        let ending = commit.ending
        var snapshot: Snapshot?
        if let request = ending.request {
            if commit.wait == nil { writing.committer.finish(request, leads: ending.leads) }
            if let failure = request.failure { throw failure.about(ending.transaction) }
            snapshot = request.takeSnapshot()
        }
        if !ending.isEmpty {
            writing.synchronizer?.noteCommit()
            if directory.watch.isFull { directory.noteWritten() }
            if let times = writing.times { times.tellCommit(since: commit.begin) }
        }
        watchSpace(writing)
        if commit.isDue {
            // Segments that compaction drops are to be freed at once, so the receipt does not hold the newest state.
            if options.maintenance == .inline, snapshot?.sequence == publisher.snapshot.sequence { snapshot = nil }
            maintain(writing)
        }
        return CommitReceipt(
            sequence: ending.sequence, transaction: ending.transaction, wallNanoseconds: ending.wallNanoseconds,
            snapshot: snapshot ?? publisher.snapshot)
    }

    /// Makes the checkpoint that memory cannot wait for, or retries a refused one that may find space now.
    private func makeOverdueCheckpoint(_ writing: Writing) throws(LogError) {
        let space = writing.space
        guard writing.sequencer.isCheckpointOverdue || space.isCheckpointRefused, space.mayCheckpoint else { return }
        let free = space.freeByteCount
        do throws(LogError) {
            try writing.checkpointer.run()
        } catch {
            // Only deletes continue, because they make room.
            guard error.code == .fullDisk else { throw error }
            space.noteRefusedCheckpoint(free: free)
            directory.noteFull(error)
        }
    }

    /// Waits for compaction if segments take more than they may, so that they never take much more.
    ///
    /// The waiting thread compacts, so this needs no other thread; if compaction makes no progress, no thread waits.
    private func waitForSpace(_ writing: Writing) {
        let sequencer = writing.sequencer
        guard sequencer.account.isShort, options.isCompacting, options.maintenance != .manual, publisher.failure == nil
        else { return }
        let begin = sequencer.clock.monotonicNanoseconds()
        writing.checkpointer.relieve { isClosed.load(ordering: .acquiring) }
        writing.waits.add(from: begin, to: sequencer.clock.monotonicNanoseconds())
    }

    /// Runs a transaction's body with the writer lock held, and reports a full disk after the lock is released.
    private func inTurn<R>(_ sequencer: Sequencer, _ body: () throws -> R) throws -> R {
        var refusal: LogError?
        do {
            return try sequencer.inTurn {
                do {
                    return try body()
                } catch {
                    // The body may throw an error of its own that has the log's error as its cause.
                    refusal = sequencer.current.failure ?? error as? LogError
                    throw error
                }
            }
        } catch {
            if let refusal, refusal.code == .fullDisk { directory.noteFull(refusal) }
            throw error
        }
    }

    /// Runs the maintenance that a transaction made due; its errors do not change the transaction's result.
    private func maintain(_ writing: Writing) {
        switch options.maintenance {
        case .manual: break
        case .inline:
            do throws(LogError) {
                try writing.checkpointer.run()
                if options.isCompacting { try writing.checkpointer.compactDue(isPaced: false) { false } }
                writing.checkpointer.note(nil)
            } catch {
                writing.checkpointer.note(error)
            }
        case .thread: _ = writing.maintainer.ask()
        }
    }

    /// Has the maintenance thread watch segments that take too much, in case no writer comes.
    private func watchSpace(_ writing: Writing) {
        if options.maintenance == .thread, writing.sequencer.account.hasExcess { writing.maintainer.watchSpace() }
    }

    func writable() throws(LogError) -> Writing {
        guard let writing else { throw LogError(.readOnly, "The store is open for reading only.", path: path) }
        guard getpid() == ownerProcess.load(ordering: .relaxed) else {
            throw LogError(
                .readOnly, "The store was opened before this process was forked. Open it again in the child.",
                path: path)
        }
        return writing
    }

    func checkOpen() throws(LogError) {
        if isClosed.load(ordering: .acquiring) { throw .closed(path) }
        if publisher.hasFailed, let failure = publisher.failure {
            throw .poisoned(by: failure, ", so nothing more is written.")
        }
    }
}
