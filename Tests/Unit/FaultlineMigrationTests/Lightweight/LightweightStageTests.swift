import Faultline
import Foundation
import FaultlineLog
import FaultlineMigration
import FaultlineStore
import Testing

struct LightweightStageTests {
    private func makePeople(_ stores: Stores, names: [String] = ["Ann", "Bob", "Cid"]) throws {
        try stores.use(People1.self) { _, context in
            let team = People1.Team(title: "Blue")
            context.insert(team)
            for (place, name) in names.enumerated() {
                let person = People1.Person(name: name, age: 30 + place)
                person.nickname = place == 0 ? "nick" : nil
                person.photo = place == 1 ? Data(repeating: 9, count: 20_000) : nil
                person.team = place < 2 ? team : nil
                context.insert(person)
            }
            let badge = People1.Badge(code: "x")
            badge.picture = Data(repeating: 5, count: 6_000)
            context.insert(badge)
            try context.save()
        }
    }

    @Test func `M30 (swiftdataserver.com): additions, removals, renamings need no plan`() throws {
        let stores = Stores()
        try makePeople(stores)
        try stores.use(People2.self) { container, context in
            let people = try context.all(People2.Person.self).sorted { $0.fullName < $1.fullName }
            #expect(people.map(\.fullName) == ["Ann", "Bob", "Cid"])
            #expect(people.map(\.age) == [30, 31, 32])
            #expect(people.map(\.nickname) == ["nick", "none", "none"])
            #expect(people.map(\.city) == ["Rome", "Rome", "Rome"])
            #expect(people.map(\.rank) == [7, 7, 7])
            #expect(people.map(\.note) == [nil, nil, nil])
            #expect(people.map { $0.team?.title } == ["Blue", "Blue", nil])
            let team = try #require(try context.all(People2.Team.self).first)
            #expect(Set(team.members.map(\.fullName)) == ["Ann", "Bob"])
            #expect(try context.fetchCount(FetchDescriptor<People2.Office>()) == 0)
            #expect(container.migrationReport.versions == ["1.0.0", "1.0.0"])
            #expect(container.migrationReport.objectsRead == 0)
            let city = "Rome"
            let byDefault = FetchDescriptor<People2.Person>(predicate: #Predicate { $0.city == city })
            #expect(try context.fetchCount(byDefault) == 3)
            let none = "none"
            let nick = "nick"
            #expect(
                try context.fetchCount(FetchDescriptor<People2.Person>(predicate: #Predicate { $0.nickname == none }))
                    == 2)
            #expect(
                try context.fetchCount(FetchDescriptor<People2.Person>(predicate: #Predicate { $0.nickname == nick }))
                    == 1)
            #expect(
                try context.fetchCount(FetchDescriptor<People2.Person>(predicate: #Predicate { $0.nickname != nick }))
                    == 2)
            people[0].city = "Oslo"
            people[2].team = team
            context.insert(People2.Office(street: "Main"))
            try context.save()
            #expect(try context.fetchCount(byDefault) == 2)
        }
        try stores.use(People2.self) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(Set(context.all(People2.Person.self).map(\.city)) == ["Oslo", "Rome"])
            try #expect(context.all(People2.Team.self).first?.members.count == 3)
            try #expect(context.fetchCount(FetchDescriptor<People2.Office>()) == 1)
        }
        #expect(try stores.findings(People2.self) == [])
    }

    @Test func deletesTheBlobsOfAnEntityThatIsGone() throws {
        let stores = Stores()
        try makePeople(stores)
        try stores.use(People2.self) { container, _ in
            // The photo stays until its row is written again, because rows are not rewritten.
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 1)
        }
        #expect(try stores.findings(People2.self) == [])
    }

    @Test(arguments: [false, true])
    func deletesTheBlobOfAnAttributeThatIsGoneWithItsRow(isDeleting: Bool) throws {
        let stores = Stores()
        try makePeople(stores)
        try stores.use(People2.self) { container, context in
            let bob = try #require(try context.all(People2.Person.self).first { $0.fullName == "Bob" })
            if isDeleting { context.delete(bob) } else { bob.rank = 9 }
            try context.save()
            #expect(container.rowStore.log.snapshot().recordCount(of: .blobs) == 0)
        }
        #expect(try stores.findings(People2.self) == [])
    }

    @Test func `S66: properties are renamed over several versions in one opening`() throws {
        let stores = Stores()
        try makePeople(stores)
        try stores.use(People4.self, PeoplePlan.self) { container, context in
            let people = try context.all(People4.Person.self).sorted { $0.title < $1.title }
            #expect(people.map(\.title) == ["Ann", "Bob", "Cid"])
            #expect(people.map(\.age) == [30, 31, 32])
            #expect(people.map { $0.team?.title } == ["Blue", "Blue", nil])
            #expect(container.migrationReport.versions == ["1.0.0", "2.0.0", "3.0.0", "4.0.0"])
            // The new unique index contains the old rows.
            context.insert(People4.Person(title: "Ann"))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<People4.Person>()) == 3)
        }
        #expect(try stores.findings(People4.self) == [])
    }

    @Test func takesOneVersionAfterTheOther() throws {
        let stores = Stores()
        try makePeople(stores)
        try stores.use(People2.self, PeoplePlan.self) { _, context in
            context.insert(People2.Person(fullName: "Dan"))
            try context.save()
        }
        try stores.use(People3.self, PeoplePlan.self) { _, context in
            let people = try context.all(People3.Person.self).sorted { $0.title < $1.title }
            #expect(people.map(\.title) == ["Ann", "Bob", "Cid", "Dan"])
            #expect(people.map(\.age) == [30, 31, 32, 1])
        }
        try stores.use(People4.self, PeoplePlan.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<People4.Person>()) == 4)
        }
    }

    @Test func refusesAUniqueConstraintOverDuplicatesAndLeavesTheOldState() throws {
        let stores = Stores()
        try makePeople(stores, names: ["Ann", "Bob", "Ann"])
        let error = #expect(throws: MigrationError.self) { try stores.open(People4.self, PeoplePlan.self) }
        #expect(error?.code == .duplicate)
        #expect(error?.entityName == "Person" && error?.propertyName != nil && error?.object == 3)
        #expect(error?.stage?.hasSuffix("→ 4.0.0") == true)
        try stores.use(People1.self) { _, context in
            #expect(try context.fetchCount(FetchDescriptor<People1.Person>()) == 3)
            context.insert(People1.Person(name: "Eve", age: 1))
            try context.save()
        }
    }

    @Test func buildsTheIndexOfANewInverse() throws {
        let stores = Stores()
        try stores.use(Pets1.self) { _, context in
            for place in 0..<3 {
                let owner = Pets1.Owner(name: "o\(place)")
                context.insert(owner)
                for number in 0..<place {
                    let pet = Pets1.Pet(name: "p\(place)\(number)")
                    pet.owner = owner
                    context.insert(pet)
                }
            }
            try context.save()
        }
        try stores.use(Pets2.self) { _, context in
            let owners = try context.all(Pets2.Owner.self).sorted { $0.name < $1.name }
            #expect(owners.map(\.pets.count) == [0, 1, 2])
            #expect(Set(owners[2].pets.map(\.name)) == ["p20", "p21"])
        }
        #expect(try stores.findings(Pets2.self) == [])
    }

    @Test func keepsAnOlderContainerReadingButNotWriting() throws {
        let stores = Stores()
        try makePeople(stores)
        let old = try stores.open(People1.self)
        let context = ModelContext(old)
        let person = try #require(try context.all(People1.Person.self).first)
        try stores.use(People2.self) { _, _ in }
        #expect(["Ann", "Bob", "Cid"].contains(person.name))
        person.name = "Zoe"
        #expect(throws: (any Error).self) { try context.save() }
        try old.close()
        try stores.use(People2.self) { _, context in
            try #expect(Set(context.all(People2.Person.self).map(\.fullName)) == ["Ann", "Bob", "Cid"])
        }
    }
}
