internal import FaultlineLog
internal import FaultlineStore
internal import Observation

/// The observation of one object: made when one of its properties is first read inside of `withObservationTracking`.
///
/// It lasts while the object lives, even if its row is deleted.
final class ObjectObservation: Observable {
    private let registrar = ObservationRegistrar()
    /// The slots that were read inside tracking so far.
    private(set) var slots: Set<Int> = []
    /// Names the stored object; nil and 0 before its first save.
    var entity: EntityStorage?
    var number: RecordID = 0
    /// The index in the context's list; -1 if it is not in the list.
    fileprivate var place = -1

    /// The key path that represents the property of a slot.
    subscript(slot: Int) -> Void { () }

    func noteRead(_ slot: Int) {
        slots.insert(slot)
        registrar.access(self, keyPath: \.[slot])
    }

    /// Notifies the observers of a slot that it changes.
    func noteChange(_ slot: Int) {
        guard slots.contains(slot) else { return }
        registrar.withMutation(of: self, keyPath: \.[slot]) {}
    }

    func noteChangeOfAll() { for slot in slots.sorted() { noteChange(slot) } }
}

/// The observations of a context's objects, for changes of more than one object's property.
struct ObservationList {
    private var all: [ObjectObservation] = []
    private var nextClearing = 64

    var isEmpty: Bool { all.isEmpty }
    var count: Int { all.count }

    mutating func add(_ observation: ObjectObservation) {
        if all.count >= nextClearing { clear() }
        observation.place = all.count
        all.append(observation)
    }

    /// Removes an observation; the last one takes its index.
    mutating func remove(_ observation: ObjectObservation) {
        let place = observation.place
        guard place >= 0, place < all.count, all[place] === observation else { return }
        observation.place = -1
        let last = all.removeLast()
        guard last !== observation else { return }
        last.place = place
        all[place] = last
    }

    func forEach(_ body: (ObjectObservation) -> Void) { all.forEach(body) }

    /// Notifies the observers of all objects, because they may show another state.
    func noteChangeOfAll() { forEach { $0.noteChangeOfAll() } }

    /// Drops the observations of freed objects: no other reference to them exists.
    private mutating func clear() {
        var living: [ObjectObservation] = []
        for place in all.indices where !isKnownUniquelyReferenced(&all[place]) { living.append(all[place]) }
        all = living
        for place in all.indices { all[place].place = place }
        nextClearing = max(64, all.count * 2)
    }
}
