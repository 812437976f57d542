internal import FaultlineDisk
internal import FaultlineLog

/// The numbers that a save gives objects which the context has let go.
///
/// Both numbers rise, mostly by the same steps: such objects of an entity are one run, of 24 bytes.
struct SpilledNumbers {
    private struct Run {
        let first: UInt64
        let number: RecordID
        /// Between two temporary numbers.
        var step: UInt32 = 1
        var count: UInt32 = 1

        func temporary(_ place: UInt64) -> UInt64 { first + UInt64(step) * place }

        /// The place of a temporary number; nil if the run lacks it.
        func place(of temporary: UInt64) -> UInt64? {
            let distance = temporary - first
            let place = distance / UInt64(step)
            return distance % UInt64(step) == 0 && place < UInt64(count) ? place : nil
        }
    }

    /// By ordinal of the entity, each by rising temporary numbers.
    private var runs: [[Run]] = []
    /// A stored object that a new one has replaced.
    struct Upsert {
        /// The number of the new one.
        let temporary: UInt64
        let number: RecordID
        let ordinal: Int
    }

    /// By rising temporary numbers.
    private(set) var upserts: [Upsert] = []
    /// The last object that is written.
    private(set) var last: (ordinal: Int, number: RecordID)?

    var isEmpty: Bool { last == nil }

    /// Adds an object, whose temporary number is greater than those of the others.
    mutating func append(_ temporary: UInt64, _ number: RecordID, ordinal: Int, isUpsert: Bool) {
        while runs.count <= ordinal { runs.append([]) }
        last = (ordinal, number)
        if isUpsert { upserts.append(Upsert(temporary: temporary, number: number, ordinal: ordinal)) }
        if !runs[ordinal].isEmpty, Self.extend(&runs[ordinal][runs[ordinal].count - 1], temporary, number) { return }
        runs[ordinal].append(Run(first: temporary, number: number))
    }

    private static func extend(_ run: inout Run, _ temporary: UInt64, _ number: RecordID) -> Bool {
        guard number == run.number + UInt64(run.count), run.count < .max else { return false }
        if run.count == 1 {
            guard let step = UInt32(exactly: temporary - run.first) else { return false }
            run.step = step
        } else if temporary != run.temporary(UInt64(run.count)) {
            return false
        }
        run.count += 1
        return true
    }

    /// The number of an object; 0 if it is not written.
    ///
    /// - Complexity: O(log *n*) for the runs of each entity.
    func number(_ temporary: UInt64) -> RecordID {
        for runs in runs {
            let after = runs.partitionPoint { $0.first <= temporary }
            if after > 0, let place = runs[after - 1].place(of: temporary) { return runs[after - 1].number + place }
        }
        return 0
    }

    /// Whether an object gets a number of its own.
    func isInsert(_ temporary: UInt64) -> Bool {
        number(temporary) != 0 && !isUpsert(temporary)
    }

    /// Whether an object replaces a stored one.
    ///
    /// - Complexity: O(log *n*).
    private func isUpsert(_ temporary: UInt64) -> Bool {
        let place = upserts.partitionPoint { $0.temporary < temporary }
        return place < upserts.count && upserts[place].temporary == temporary
    }

    /// The new object that gets a number of its own; nil if there is none.
    ///
    /// - Complexity: O(*n*) for the runs of the entity.
    func temporaryNumber(of number: RecordID, ordinal: Int) -> UInt64? {
        guard ordinal < runs.count else { return nil }
        for run in runs[ordinal] where number >= run.number && number - run.number < UInt64(run.count) {
            let temporary = run.temporary(number - run.number)
            if !isUpsert(temporary) { return temporary }
        }
        return nil
    }

    func count(ordinal: Int) -> Int {
        ordinal < runs.count ? runs[ordinal].reduce(0) { $0 + Int($1.count) } : 0
    }
}
