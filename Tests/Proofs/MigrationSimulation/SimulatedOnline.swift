package import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import Foundation
internal import Synchronization

/// The target of an online migration: indexes are built, and saves go on.
package enum SimulatedOnline2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Person.self, Note.self, Town.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 2, 0) }

    @Model package final class Person {
        #Index<Person>([\.town, \.number], [\.name])
        @Attribute(.unique) var number: Int
        var name: String
        var town: String
        @Attribute(.externalStorage) var photo: Data?
        @Relationship(inverse: \Note.person) var notes: [Note] = []
        init(number: Int, name: String, town: String) {
            self.number = number
            self.name = name
            self.town = town
        }
    }

    @Model package final class Note {
        @Attribute(.unique) var text: String
        var person: Person?
        init(text: String) { self.text = text }
    }

    /// Distinguishes the new state from the old one.
    @Model package final class Town {
        var name: String
        init(name: String) { self.name = name }
    }
}

/// The saves of the old schema during an online migration: each changes several objects, and every state between two
/// saves is known.
final class SimulatedSaves: Sendable {
    private let counts = Guarded((begun: 0, done: 0))
    private let base: SimulatedWork

    /// The largest number of saves.
    private static let saveMax = 14

    init(_ base: SimulatedWork) { self.base = base }

    /// The objects between two saves.
    struct State: Equatable {
        struct Person: Equatable {
            var name: String
            var town: String
            var photo: Data?
        }

        var people: [Int: Person] = [:]
        /// The number of the person of each note, by the note's text.
        var notes: [String: Int] = [:]
        /// Whether there is a note without a person, with the text of another one, which the new version refuses.
        var hasTwin = false
    }

    /// Numbers of persons that saves add.
    private static let lateStart = 100

    private func late(_ save: Int) -> State.Person {
        State.Person(
            name: "late \(save)", town: "late",
            photo: save % 2 == 1 ? Data(repeating: UInt8(save), count: 600) : nil)
    }

    /// The text of a note after some saves.
    private func text(_ note: Int, after saves: Int) -> String {
        let newest = stride(from: 4, through: saves, by: 4).filter { $0 % 3 == note }.last
        return newest.map { "n\(note) \($0)" } ?? "n\(note)"
    }

    /// The state after some saves.
    func state(after saves: Int) -> State {
        var state = State()
        for number in 0..<base.count {
            state.people[number] = .init(
                name: "f\(number) l\(number)", town: base.town(number), photo: base.oldPhoto(number))
        }
        if saves > 0 { state.people[0]?.name = "f0 l0 v\(saves)" }
        var owners = [0, 2, 4]
        for save in 1..<saves + 1 {
            switch save % 4 {
            case 1: state.people[Self.lateStart + save] = late(save)
            case 2: owners[save % 3] = save % base.count
            case 3: state.people[Self.lateStart + save - 2] = nil
            default: break
            }
        }
        for (note, owner) in owners.enumerated() { state.notes[text(note, after: saves)] = owner }
        state.hasTwin = saves % 4 == 1
        return state
    }

    /// Saves once in a context of the old schema; does nothing once the migration has switched.
    func save(_ context: ModelContext) throws {
        let save = counts.withLock { counts -> Int in
            counts.begun = counts.done + 1
            return counts.begun
        }
        guard save <= Self.saveMax else { return }
        let people = try context.fetch(FetchDescriptor<Simulated1.Person>())
        let all = try context.fetch(FetchDescriptor<Simulated1.Note>())
        let notes = all.filter { $0.person != nil }
        let note = notes.first { $0.text == text(save % 3, after: save - 1) }
        people.first { $0.number == 0 }?.name = "f0 l0 v\(save)"
        switch save % 4 {
        case 1:
            let values = late(save)
            let new = Simulated1.Person(number: Self.lateStart + save, name: values.name, town: values.town)
            new.photo = values.photo
            context.insert(new)
            // The next save deletes it.
            context.insert(Simulated1.Note(text: text(save % 3, after: save)))
        case 2:
            note?.person = people.first { $0.number == save % base.count }
            for twin in all where twin.person == nil { context.delete(twin) }
        case 3: people.first { $0.number == Self.lateStart + save - 2 }.map { context.delete($0) }
        default: note?.text = text(save % 3, after: save)
        }
        do { try context.save() } catch let error as StorageError where error.code == .outdated {
            context.rollback()
            return
        }
        counts.withLock { $0.done = save }
    }

    /// Whether the last save has left a second note of one text.
    var hasTwin: Bool { doneCount % 4 == 1 }

    /// The number of saves that have returned.
    var doneCount: Int { counts.withLock { $0.done } }

    /// The difference of a state from those that may be there now: that of the saves that have returned, or one more.
    func fault(_ state: State, isNew: Bool, blobCount: Int) -> String? {
        let (begun, done) = counts.withLock { $0 }
        let found = state.people[0]?.name.split(separator: "v").dropFirst().first.flatMap { Int($0) } ?? 0
        guard found >= done, found <= max(begun, done) else { return "save \(found) is the last, of \(done)" }
        let expected = self.state(after: found)
        guard state.people == expected.people else { return "persons after save \(found): \(state.people)" }
        guard state.hasTwin == (expected.hasTwin && !isNew) else { return "the twin after save \(found)" }
        guard state.notes == expected.notes else { return "notes after save \(found): \(state.notes)" }
        let photos = expected.people.values.filter { $0.photo != nil }.count
        return photos == blobCount ? nil : "\(blobCount) blobs of \(photos) photos after save \(found)"
    }

    /// The difference from the expected old state.
    func oldFault(_ context: ModelContext) throws -> String? {
        var state = State()
        for person in try context.fetch(FetchDescriptor<Simulated1.Person>()) {
            state.people[person.number] = .init(name: person.name, town: person.town, photo: person.photo)
        }
        for note in try context.fetch(FetchDescriptor<Simulated1.Note>()) {
            if let person = note.person { state.notes[note.text] = person.number } else { state.hasTwin = true }
        }
        return fault(state, isNew: false, blobCount: context.container.rowStore.log.snapshot().recordCount(of: .blobs))
    }

    /// The difference from the expected new state, also by its new indexes.
    func newFault(_ context: ModelContext) throws -> String? {
        var state = State()
        let people = try context.fetch(FetchDescriptor<SimulatedOnline2.Person>())
        for person in people {
            state.people[person.number] = .init(name: person.name, town: person.town, photo: person.photo)
            for note in person.notes { state.notes[note.text] = person.number }
            let name = person.name
            let named = FetchDescriptor<SimulatedOnline2.Person>(predicate: #Predicate { $0.name == name })
            guard try context.fetch(named).map(\.number) == [person.number] else { return "index of \(name)" }
        }
        for note in try context.fetch(FetchDescriptor<SimulatedOnline2.Note>()) {
            let text = note.text
            let same = FetchDescriptor<SimulatedOnline2.Note>(predicate: #Predicate { $0.text == text })
            guard try context.fetch(same).map({ $0.person?.number }) == [state.notes[text]] else {
                return "index of \(text)"
            }
        }
        return fault(state, isNew: true, blobCount: context.container.rowStore.log.snapshot().recordCount(of: .blobs))
    }
}
