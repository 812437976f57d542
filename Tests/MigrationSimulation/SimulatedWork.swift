internal import Faultline
internal import Foundation

/// The objects of a simulated migration, and what they have to be before and after.
struct SimulatedWork {
    let seed: UInt64
    let count: Int

    private func town(_ number: Int) -> String { "t\((number &* 7 &+ Int(seed % 5)) % 3)" }
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

    /// What is wrong with the old state; nil if nothing is.
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
        return nil
    }

    /// What is wrong with the new state; nil if nothing is.
    func newFault(_ context: ModelContext) throws -> String? {
        let people = try context.fetch(FetchDescriptor<Simulated2.Person>()).sorted { $0.number < $1.number }
        guard people.map(\.number) == Array(0..<count) else { return "new persons \(people.map(\.number))" }
        for person in people {
            let number = person.number
            guard person.first == "f\(number)", person.last == "l\(number)", person.town?.name == town(number),
                person.photo?.bytes == (hasPhoto(number) && number % 8 != 0 ? photo(number) : nil)
            else { return "new person \(number) is another" }
        }
        let towns = try context.fetch(FetchDescriptor<Simulated2.Town>())
        guard Set(towns.map(\.name)).count == towns.count else { return "a town twice" }
        for town in towns {
            let expected = (0..<count).filter { self.town($0) == town.name }
            guard town.people.map(\.number).sorted() == expected else { return "people of \(town.name)" }
        }
        let photos = try context.fetchCount(FetchDescriptor<Simulated2.Photo>())
        guard photos == (0..<count).filter({ hasPhoto($0) && $0 % 8 != 0 }).count else { return "\(photos) photos" }
        let notes = try context.fetch(FetchDescriptor<Simulated2.Note>()).sorted { $0.text < $1.text }
        guard notes.map({ $0.person?.number }) == [0, 2, 4] else { return "new notes" }
        return nil
    }
}
