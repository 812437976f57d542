package import FaultlineLog

/// The large values that one transaction passes from rows that give them up to rows that take them over, unread.
///
/// A blob has one owner. So a value is taken only if its row gives it up in the same transaction, and only once.
package struct PassedBlobs {
    /// The states of a value that a row would take over.
    private enum State {
        /// No row is known to give it up.
        case kept
        /// A row will give it up later in the transaction.
        case expected
        /// Its row has given it up, and no row has taken it.
        case free
        /// A row has taken it, and the earlier one has yet to give it up.
        case takenEarly
        /// It has its new owner.
        case passed
    }

    private var states: [UInt64: State] = [:]
    /// Whether some rows would take values over.
    package var isEmpty: Bool { states.isEmpty }

    package init() {}

    /// Records that a row would take a value over.
    package mutating func want(_ blob: UInt64) { if states[blob] == nil { states[blob] = .kept } }

    /// Whether a row would take a value over that no row is known to give up.
    func mayExpect(_ blob: UInt64) -> Bool { states[blob] == .kept }

    /// Records that a row will give a value up.
    mutating func expect(_ blob: UInt64) { if mayExpect(blob) { states[blob] = .expected } }

    /// Records that a row gives a value up.
    ///
    /// - Returns: False if no row would take it over: it must be deleted.
    mutating func giveUp(_ blob: UInt64) -> Bool {
        guard let state = states[blob] else { return false }
        states[blob] = state == .takenEarly ? .passed : .free
        return true
    }

    /// Records that a row keeps a value, which it may have taken from itself: code has set the slot to another value and
    /// back.
    mutating func keep(_ blob: UInt64) { if states[blob] == .takenEarly { states[blob] = .passed } }

    /// Lets a row take a value over.
    ///
    /// - Returns: False if the row needs a copy, because another row keeps the value, or has taken it.
    package mutating func take(_ blob: UInt64) -> Bool {
        switch states[blob] {
        case .expected: states[blob] = .takenEarly
        case .free: states[blob] = .passed
        case .kept, .takenEarly, .passed, nil: return false
        }
        return true
    }

    /// Ends the transaction's work on rows.
    ///
    /// - Returns: The values that were given up, and that no row has taken: they must be deleted.
    /// - Throws: `malformed` if two rows would have one value.
    mutating func end() throws(StoreError) -> [UInt64] {
        defer { states.removeAll() }
        guard !states.values.contains(.takenEarly) else {
            throw StoreError(
                .malformed,
                "A large value was to be moved from a row that keeps it. Nothing was saved. Copy the value, or save the change of the two objects apart."
            )
        }
        return states.filter { $0.value == .free }.keys.sorted()
    }
}

extension RowWriter {
    /// Finds the values that the update of a row will give up, of those that other rows would take over.
    ///
    /// - Parameters:
    ///   - draft: The values that `update` will get.
    ///   - id: The object; one that is gone is ignored.
    ///   - entity: Its entity.
    ///   - transaction: The transaction.
    /// - Throws: If the stored row cannot be read.
    package mutating func expectBlobs(
        givenUpBy draft: Draft, id: RecordID, _ entity: EntityStorage, in transaction: borrowing Transaction
    ) throws(StoreError) {
        let slots = entity.variableSlots.filter { draft.isChanged($0) }
        guard !slots.isEmpty, !draft.isOfPlainRow else { return }
        let blobs: [UInt64]
        do throws(StoreError) {
            blobs = try withStoredRow(id, entity, transaction) { view in
                slots.compactMap { slot in
                    let stored = view.blobReference(slot)?.identifier
                    return draft.blobReference(slot)?.identifier == stored ? nil : stored
                }
            }
        } catch {
            guard error.code == .missing else { throw error }
            return
        }
        for blob in blobs { passed.expect(blob) }
    }

    /// Deletes the values that rows gave up for others, and that no row has taken.
    ///
    /// - Throws: `malformed` if two rows would have one value; the log's error.
    package mutating func deleteUnclaimedBlobs(in transaction: inout Transaction) throws(StoreError) {
        guard !passed.isEmpty else { return }
        for blob in try passed.end() { try delete(blob, &transaction) }
    }
}
