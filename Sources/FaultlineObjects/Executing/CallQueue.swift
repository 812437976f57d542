/// The calls that wait for an executor: the highest priority first, and first come, first served within one.
///
/// At most `limit` calls stand in it by priority. Further ones wait behind them in the order of their arrival, and enter
/// as places become free, so that a flood of calls delays an urgent one by a bounded number of others.
///
/// A call that stops waiting stays as a tombstone until its turn, or until half of the entries are tombstones.
struct CallQueue {
    let limit: Int
    /// The lines of the priorities that have been asked for, the highest first.
    private var lines: [(priority: UInt8, calls: Fifo<PoolCall>)] = []
    private var overflow = Fifo<PoolCall>()
    /// Calls in lines, and behind them; without tombstones.
    private(set) var queuedCount = 0
    private(set) var overflowCount = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var count: Int { queuedCount + overflowCount }

    /// Adds a call, which waits already.
    mutating func append(_ call: PoolCall) {
        if queuedCount < limit { return enter(call) }
        call.isInOverflow = true
        overflowCount += 1
        overflow.append(call)
    }

    private mutating func enter(_ call: PoolCall) {
        queuedCount += 1
        call.isInOverflow = false
        let place = lines.firstIndex { $0.priority <= call.priority } ?? lines.count
        if place == lines.count || lines[place].priority != call.priority {
            lines.insert((call.priority, Fifo()), at: place)
        }
        lines[place].calls.append(call)
    }

    /// Removes the next call; nil if none waits.
    mutating func popFirst() -> PoolCall? {
        for place in lines.indices {
            while let call = lines[place].calls.popFirst() {
                guard call.isWaiting else { continue }
                queuedCount -= 1
                promote()
                return call
            }
        }
        return nil
    }

    /// Lets calls enter that waited for a place.
    private mutating func promote() {
        while queuedCount < limit, let call = overflow.popFirst() {
            guard call.isWaiting else { continue }
            overflowCount -= 1
            enter(call)
        }
    }

    /// Takes note that a call no longer waits.
    mutating func noteGone(_ call: PoolCall) {
        if call.isInOverflow { overflowCount -= 1 } else { queuedCount -= 1 }
        promote()
        let entryCount = lines.reduce(overflow.count) { $0 + $1.calls.count }
        guard entryCount > 2 * count + 64 else { return }
        for place in lines.indices { lines[place].calls.keep { $0.isWaiting } }
        overflow.keep { $0.isWaiting }
    }

    func forEach(_ body: (PoolCall) -> Void) {
        for line in lines { line.calls.forEach { if $0.isWaiting { body($0) } } }
        overflow.forEach { if $0.isWaiting { body($0) } }
    }
}
