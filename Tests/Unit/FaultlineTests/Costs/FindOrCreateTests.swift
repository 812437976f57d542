import Faultline
import Testing

/// Unsaved objects are found by their values without a walk over all of them.
@Suite struct FindOrCreateTests {
    @Test("C2: find or create without a save looks at each new object a few times", arguments: [true, false])
    func findOrCreate(isUnique: Bool) throws {
        let store = try TestStore(User.self, place: .memory)
        let context = store.context()
        func find(_ text: String) throws -> User? {
            let descriptor =
                isUnique
                ? FetchDescriptor<User>(predicate: #Predicate { $0.email == text })
                : FetchDescriptor<User>(predicate: #Predicate { $0.first == text })
            return try context.fetch(descriptor).first
        }
        let count = 1_500
        for number in 0..<count {
            let text = "\(number % 1_000)"
            if let found = try find(text) {
                found.age += 1
            } else {
                context.insert(User(text, first: text))
            }
        }
        #expect(context.insertedModelsArray.count == 1_000)
        #expect(context.core.unsavedExamined < 8 * count)
        #expect(try find("499")?.age == 1 && find("500")?.age == 0)
        #expect(try find("1000") == nil)
    }

    @Test func `an object is found after a deleted one has left the context`() throws {
        let store = try TestStore(User.self, place: .memory)
        let context = store.context()
        func emails() throws -> [String] { try context.all(User.self).map(\.email).sorted() }
        let users = (0..<3).map { User("\($0)", first: "a") }
        users[..<2].forEach(context.insert)
        #expect(try emails() == ["0", "1"])
        // No fetch has seen the third one when the first one leaves.
        context.insert(users[2])
        context.delete(users[0])
        context.processPendingChanges()
        try context.core.checkInvariants()
        #expect(try emails() == ["1", "2"])
        context.insert(User("3", first: "a"))
        #expect(try emails() == ["1", "2", "3"])
        try context.save()
        #expect(try emails() == ["1", "2", "3"])
    }

    @Test("C2: a value that is set, set again and taken back is found by the value of now")
    func changedValuesAreFound() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        func emails(_ first: String?) throws -> [String] {
            try context.fetch(FetchDescriptor<User>(predicate: #Predicate { $0.first == first })).map(\.email).sorted()
        }
        let users = (0..<4).map { User("\($0)", first: "a", last: "\($0)") }
        users.forEach(context.insert)
        #expect(try emails("a") == ["0", "1", "2", "3"])
        users[2].first = "b"
        #expect(try emails("a") == ["0", "1", "3"] && emails("b") == ["2"])
        users[2].first = "a"
        users[0].first = nil
        #expect(try emails("a") == ["1", "2", "3"] && emails(nil) == ["0"])
        context.delete(users[1])
        #expect(try emails("a") == ["2", "3"])
        try context.save()
        // Stored objects that change.
        #expect(try emails("a") == ["2", "3"])
        users[3].first = "c"
        users[0].first = "a"
        #expect(try emails("a") == ["0", "2"] && emails("c") == ["3"])
        context.insert(User("4", first: "c"))
        #expect(try emails("c") == ["3", "4"])
        users[3].first = "d"
        #expect(try emails("c") == ["4"] && emails("d") == ["3"])
        context.delete(users[0])
        #expect(try emails("a") == ["2"])
        context.rollback()
        #expect(try emails("a") == ["2", "3"] && emails("c").isEmpty && emails(nil) == ["0"])
        users[2].first = "z"
        #expect(try emails("z") == ["2"])
        context.refresh(users[2], mergeChanges: false)
        #expect(try emails("z").isEmpty && emails("a") == ["2", "3"])
        for turn in 0..<300 {
            users[2].first = "\(turn)"
            #expect(try emails("\(turn)") == ["2"] && emails("\(turn - 1)").isEmpty)
        }
    }

    @Test("C2: text is found by its characters, numbers by their values, out-of-row values are looked at")
    func valuesOfAllKinds() throws {
        let store = try TestStore(Scalars.self, Photo.self)
        let context = store.context()
        let scalars = Scalars()
        scalars.string = "caf\u{E9}"
        scalars.double = -0.0
        scalars.int = 7
        context.insert(scalars)
        func count(_ predicate: Predicate<Scalars>) throws -> Int {
            try context.fetchCount(FetchDescriptor(predicate: predicate))
        }
        let composed = "cafe\u{301}"
        #expect(try count(#Predicate { $0.string == composed }) == 1)
        #expect(try count(#Predicate { $0.double == 0.0 }) == 1)
        #expect(try count(#Predicate { $0.int == 7 && $0.bool == false }) == 1)
        #expect(try count(#Predicate { $0.int == 8 }) == 0)
        scalars.double = .nan
        let notANumber = Double.nan
        #expect(try count(#Predicate { $0.double == notANumber }) == 0)
        let long = String(repeating: "x", count: 100_000)
        context.insert(Photo(long))
        #expect(try context.fetchCount(FetchDescriptor<Photo>(predicate: #Predicate { $0.name == long })) == 1)
        try context.save()
        let photo = try context.first(Photo.self)
        photo.large = Data([1])
        #expect(try context.fetchCount(FetchDescriptor<Photo>(predicate: #Predicate { $0.name == long })) == 1)
    }

    @Test("C3: an unsaved parent that is read after each insert is found without a walk")
    func unsavedParents() throws {
        let store = try TestStore(Folder.self, place: .memory)
        let context = store.context()
        let folder = Folder("f")
        context.insert(folder)
        for number in 0..<2_000 {
            let document = Document("\(number)", number: number)
            document.folder = folder
            context.insert(document)
            #expect(document.folder === folder)
        }
        #expect(context.core.unsavedExamined < 4_100)
        // Objects that leave are no longer found.
        let last = try #require(folder.documents.last)
        context.delete(folder)
        context.processPendingChanges()
        #expect(last.folder == nil)
    }
}
