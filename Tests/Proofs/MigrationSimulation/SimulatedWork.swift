internal import Faultline
internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore
internal import Foundation

/// The objects of a simulated migration, and their expected state before and after.
struct SimulatedWork {
    let seed: UInt64
    let count: Int

    func town(_ number: Int) -> String { "t\((number &* 7 &+ Int(seed % 5)) % 3)" }
    private func hasPhoto(_ number: Int) -> Bool { number % 2 == 0 }
    private func photo(_ number: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: number &+ Int(seed % 100)), count: 600)
    }

    func make(in context: ModelContext) throws {
        var people: [Simulated1.Person] = []
        for number in 0..<count {
            let person = Simulated1.Person(number: number, name: "f\(number) l\(number)", town: town(number))
            if hasPhoto(number) { person.photo = photo(number) }
            context.insert(person)
            people.append(person)
        }
        for number in 0..<3 {
            let note = Simulated1.Note(text: "n\(number)")
            note.person = people[number * 2]
            context.insert(note)
        }
        try context.save()
    }

    /// Saves twice, and restores the previous values.
    func change(_ context: ModelContext) throws {
        let town = "of later"
        if context.container.schema.entitiesByName["Note"]?.relationshipsByName["people"] == nil {
            let new = Simulated2.Town(name: town)
            context.insert(new)
            try context.save()
            context.delete(new)
        } else {
            let new = SimulatedLinks2.Town(name: town)
            context.insert(new)
            try context.save()
            context.delete(new)
        }
        try context.save()
    }

    /// The difference from the expected old state; nil if there is none.
    func oldFault(_ context: ModelContext) throws -> String? {
        let people = try context.fetch(FetchDescriptor<Simulated1.Person>()).sorted { $0.number < $1.number }
        guard people.map(\.number) == Array(0..<count) else { return "old persons \(people.map(\.number))" }
        for person in people {
            let number = person.number
            guard person.name == "f\(number) l\(number)", person.town == town(number),
                person.photo == (hasPhoto(number) ? photo(number) : nil)
            else { return "old person \(number) is another" }
        }
        let notes = try context.fetch(FetchDescriptor<Simulated1.Note>()).sorted { $0.text < $1.text }
        guard notes.map({ $0.person?.number }) == [0, 2, 4] else { return "old notes" }
        let blobs = context.container.rowStore.log.snapshot().recordCount(of: .blobs)
        guard blobs == (0..<count).filter(hasPhoto).count else { return "\(blobs) blobs in the old state" }
        return nil
    }

    /// A photo or map made by custom stages; every second is so large that the stage writes it before the save.
    static func photo(of number: Int, _ kind: UInt8) -> Data {
        Data(repeating: kind &* 40 &+ UInt8(truncatingIfNeeded: number), count: number % 2 == 0 ? 17_000 : 500)
    }

    private static let memoCount = 70

    private static func memo(_ number: Int) -> String { "memo \(number)" }

    /// Inserts memos, of which the context writes most before its save, and lets them go.
    static func insertMemos(_ context: ModelContext, _ people: [SimulatedCustom3.Person]) throws {
        for number in 0..<memoCount {
            let memo = SimulatedCustom3.Memo(text: Self.memo(number))
            memo.person = people[number % people.count]
            context.insert(memo)
        }
        SimulatedReach.current?.note(spilledCount: StageContext(context.core).spilledCount)
    }

    /// The difference from the expected memos behind the second custom stage; nil if there is none.
    func memoFault(_ context: ModelContext) throws -> String? {
        let people = try context.fetch(FetchDescriptor<SimulatedCustom3.Person>())
        let memos = try context.fetch(FetchDescriptor<SimulatedCustom3.Memo>())
        guard memos.map(\.text) == (0..<Self.memoCount).map(Self.memo) else { return "\(memos.count) memos" }
        for (number, memo) in memos.enumerated() where memo.person !== people[number % people.count] {
            return "the person of memo \(number)"
        }
        return nil
    }

    /// The difference from the expected state after custom stages; nil if there is none.
    func customFault(_ context: ModelContext) throws -> String? {
        let numbers = (0..<count).filter { $0 % 4 != 2 }
        let people = try context.fetch(FetchDescriptor<SimulatedCustom3.Person>()).sorted { $0.number < $1.number }
        guard people.map(\.number) == numbers else { return "persons behind custom stages \(people.map(\.number))" }
        for person in people {
            let number = person.number
            guard person.first == "f\(number)", person.last == "l\(number)",
                person.places.map(\.name) == [town(number)],
                person.photo == (hasPhoto(number) && number % 8 != 0 ? photo(number) : nil)
            else { return "person \(number) behind custom stages is another" }
        }
        let towns = try context.fetch(FetchDescriptor<SimulatedCustom3.Town>())
        guard towns.map(\.name).sorted() == Set(numbers.map(town)).sorted() else { return "towns \(towns.count)" }
        for town in towns {
            let expected = numbers.filter { self.town($0) == town.name }
            guard town.people.map(\.number).sorted() == expected,
                town.map == Self.photo(of: expected.count, 4)
            else { return "people or map of \(town.name)" }
        }
        let blobs = context.container.rowStore.log.snapshot().recordCount(of: .blobs)
        let expected = towns.count + numbers.filter { hasPhoto($0) && $0 % 8 != 0 }.count
        guard blobs == expected else { return "\(blobs) blobs in the place of \(expected)" }
        return nil
    }

    /// The difference from the expected state after a lightweight step; nil if there is none.
    func linkFault(_ context: ModelContext) throws -> String? {
        let people = try context.fetch(FetchDescriptor<SimulatedLinks2.Person>()).sorted { $0.number < $1.number }
        guard people.map(\.number) == Array(0..<count),
            people.allSatisfy({ $0.photo == (hasPhoto($0.number) ? photo($0.number) : nil) })
        else { return "persons of a lightweight step" }
        let notes = try context.fetch(FetchDescriptor<SimulatedLinks2.Note>()).sorted { $0.text < $1.text }
        let numbers = notes.map { $0.people.map(\.number) }
        return numbers == [[0], [2], [4]] ? nil : "links \(numbers)"
    }

    /// The photo of a person in the old state.
    func oldPhoto(_ number: Int) -> Data? { hasPhoto(number) ? photo(number) : nil }

    /// The difference from the expected new state, with some persons in the quarantine; nil if there is none.
    func newFault(_ context: ModelContext, without gone: ClosedRange<Int>? = nil) throws -> String? {
        let people = try context.fetch(FetchDescriptor<Simulated2.Person>()).sorted { $0.number < $1.number }
        let numbers = (0..<count).filter { gone?.contains($0) != true }
        guard people.map(\.number) == numbers else { return "new persons \(people.map(\.number))" }
        for person in people {
            let number = person.number
            guard person.first == "f\(number)", person.last == "l\(number)", person.town?.name == town(number),
                person.photo?.bytes == (hasPhoto(number) && number % 8 != 0 ? photo(number) : nil)
            else { return "new person \(number) is another" }
        }
        let towns = try context.fetch(FetchDescriptor<Simulated2.Town>())
        guard Set(towns.map(\.name)).count == towns.count else { return "a town twice" }
        for town in towns {
            let expected = numbers.filter { self.town($0) == town.name }
            guard town.people.map(\.number).sorted() == expected else { return "people of \(town.name)" }
        }
        let photos = try context.fetchCount(FetchDescriptor<Simulated2.Photo>())
        guard photos == numbers.filter({ hasPhoto($0) && $0 % 8 != 0 }).count else { return "\(photos) photos" }
        let blobs = context.container.rowStore.log.snapshot().recordCount(of: .blobs)
        guard blobs == photos + (gone?.filter(hasPhoto).count ?? 0) else { return "\(blobs) blobs of \(photos) photos" }
        let notes = try context.fetch(FetchDescriptor<Simulated2.Note>()).sorted { $0.text < $1.text }
        guard notes.map({ $0.person?.number }) == [0, 2, 4].map({ gone?.contains($0) == true ? nil : $0 }) else {
            return "new notes"
        }
        return nil
    }
}
