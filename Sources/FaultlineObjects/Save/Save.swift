internal import FaultlineLog
internal import FaultlineStore

/// One save of a context: writes its unsaved changes into one transaction, and shows the result in the context.
///
/// Rules are checked in the writer's turn, on the newest state of the store; one error has all findings. Order within
/// the transaction: rules of deletions and references, deletes, keys that updates release, numbers of inserts, rules of
/// the objects, updates, inserts, links. An insert whose unique values a stored object has becomes an update of that
/// object, unless its policy says otherwise.
///
/// Used between `beginReading` and `endReading` of its context. Drafts that it alters are restored if it fails.
struct Save: ~Copyable {
    /// Writes in the same transaction; may ask for an object's number.
    typealias Addition = (inout Transaction, _ number: (ManagedObject) -> RecordID) throws -> Void

    /// An object whose unique keys this save has entered.
    struct KeyOwner: Hashable {
        let entity: Int
        let number: RecordID
    }

    /// An inserted object that owns the unique keys of a number.
    struct KeyHolder {
        let position: Int
        /// Targets in its keys that belong to the object that it replaces.
        var kept: [KeptTarget] = []
    }

    /// A relationship that an object keeps when a new one replaces it.
    struct KeptTarget {
        let slot: Int
        let number: RecordID
    }

    let context: ContextCore
    /// The objects to delete; nil for none.
    private(set) var deletion: DeletionWalk?
    /// Removes the marks of the objects to delete.
    private var unmark: (() -> Void)?
    /// Collections that lose members to the deletion, and have a minimum or maximum number of them.
    var countedOwners: [(owner: DeletionWalk.Subject, slot: Int)] = []
    /// The rules that the objects break.
    var findings: FindingList
    /// Why the store did not accept one of the objects.
    var refusal: StoreError.Code?
    var writer: RowWriter
    /// The large values that it has written and moved.
    var blobs = SavedBlobs()
    /// Collects the changes for the store's history; nil outside of the transaction, and if there is no history.
    var history: HistoryWriter?
    /// Numbers of the inserted objects.
    var numbers = SavedNumbers()
    /// Values of drafts that the save has replaced.
    var replaced = ReplacedValues()
    /// Positions of objects that replace a stored one.
    var upserts: Set<Int> = []
    /// The last inserted object that entered keys for a number, if an entity has several uniqueness constraints.
    var keyHolders: [KeyOwner: KeyHolder] = [:]
    /// Inserted objects that others keep from being saved as they are.
    var losing = LosingInserts()
    /// Changed objects that are gone, and that the policy lets the save do without.
    var gonePartners: Set<UnsafeMutablePointer<ModelCore>> = []
    /// References of stored objects that delete rules have cleared.
    var cleared = ClearedReferences()
    /// Changed objects before the save; later ones got other positions in their collections by it.
    var changedCount = 0
    /// The number of the save's transaction, if it has written anything.
    var sequence: UInt64 = 0

    init(_ context: ContextCore, _ deletion: DeletionWalk?, _ findings: FindingList) {
        self.context = context
        self.deletion = deletion
        self.findings = findings
        writer = RowWriter(context.store, keepingBlobsBelow: context.stage?.firstOwnBlob ?? 0)
    }

    var store: RowStore { context.store }

    // MARK: The objects to delete

    /// Marks the objects to delete.
    mutating func markDeletion() { unmark = deletion.map { $0.mark() } }

    /// Sets the walk of this save, and marks its objects.
    mutating func take(_ walk: DeletionWalk?) {
        unmarkDeletion()
        deletion = walk
        context.saving.deletes = nil
        markDeletion()
    }

    /// Removes the marks of the objects to delete.
    func unmarkDeletion() { unmark?() }

    /// Keeps the marks: the objects are deleted.
    mutating func keepMarks() { unmark = nil }

    // MARK: Numbers

    /// The number that an object has once it is saved; 0 if it is not saved, or not known yet.
    mutating func number(_ reference: ObjectReference) -> RecordID {
        numbers.number(reference, context.pending.living)
    }

    /// Replaces temporary numbers in a draft by the final ones.
    ///
    /// - Returns: False if one of them is not known yet; it stays.
    @discardableResult
    mutating func resolve(
        _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage, isLast: Bool
    ) -> Bool {
        guard let draft = core.pointee.draft else { return true }
        var isDone = true
        for slot in entity.toOneSlots {
            let reference = ObjectReference(bits: draft.toOne(slot))
            guard reference.isTemporary else { continue }
            let final = number(reference)
            if final == 0, !isLast {
                isDone = false
                continue
            }
            replaced.noteTarget(core, slot, reference.bits)
            draft.setToOne(slot, final)
        }
        return isDone
    }
}
