internal import FaultlineLog

/// A stored object.
struct StoredKey: Hashable {
    let ordinal: Int
    let number: RecordID
}

/// An object that a save has changed, and the slots that it has set; nil for all of an inserted or a deleted one.
struct ChangedObject {
    let key: StoredKey
    let slots: Set<Int>?
}
