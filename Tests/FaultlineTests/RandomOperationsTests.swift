import Faultline
import FaultlineTestSupport
import Testing

/// Applies random operations to a store and to plain values, which must agree after every step.
@Suite struct RandomOperationsTests {
    /// The expected contents of a store, in plain values; folders and documents have unique names that are never
    /// reused.
    private struct Plain: Equatable {
        struct Document: Equatable {
            var number = 0
            var text: String
            var folder: String?
            var labels: Set<String> = []
            var body: Int?
        }
        var documents: [String: Document] = [:]
        /// The members of each folder, in order.
        var folders: [String: [String]] = [:]
        var labels: Set<String> = []
    }

    /// One context with its view of the store.
    private final class Session {
        let store: TestStore
        var context: ModelContext
        var saved: Plain
        var now: Plain
        var nextName = 0

        init(_ store: TestStore, _ saved: Plain) {
            self.store = store
            context = store.context()
            self.saved = saved
            now = saved
        }

        func folder(_ name: String) throws -> Folder {
            try #require(try context.fetch(FetchDescriptor<Folder>(predicate: #Predicate { $0.name == name })).first)
        }

        func document(_ name: String) throws -> Document {
            try #require(try context.fetch(FetchDescriptor<Document>(predicate: #Predicate { $0.title == name })).first)
        }

        func label(_ name: String) throws -> Label {
            try #require(try context.fetch(FetchDescriptor<Label>(predicate: #Predicate { $0.text == name })).first)
        }

        func name(_ prefix: String) -> String {
            nextName += 1
            return "\(prefix)\(nextName)"
        }

        /// Reads all values through objects.
        func read() throws -> Plain {
            var plain = Plain()
            for document in try context.all(Document.self) {
                plain.documents[document.title] = Plain.Document(
                    number: document.number,
                    text: document.body.map { String(decoding: $0.bytes.suffix(8), as: UTF8.self) } ?? "",
                    folder: document.folder?.name, labels: Set(document.labels.map(\.text)),
                    body: document.body?.bytes.count)
                #expect(document.body == nil || document.body?.document === document)
                for label in document.labels { #expect(label.documents.contains { $0 === document }) }
            }
            for folder in try context.all(Folder.self) {
                plain.folders[folder.name] = folder.documents.map(\.title)
                for document in folder.documents { #expect(document.folder === folder) }
            }
            plain.labels = Set(try context.all(Label.self).map(\.text))
            return plain
        }
    }

    private static func step(_ session: Session, _ random: inout Seed) throws -> String {
        let documents = session.now.documents.keys.sorted()
        let folders = session.now.folders.keys.sorted()
        let labels = session.now.labels.sorted()
        let context = session.context
        func leave(_ name: String) {
            if let old = session.now.documents[name]?.folder { session.now.folders[old]?.removeAll { $0 == name } }
        }
        switch random.below(24) {
        case 0...2:
            let name = session.name("d")
            let document = Document(name, number: random.below(100))
            session.now.documents[name] = Plain.Document(number: document.number, text: "")
            if !folders.isEmpty, random.oneIn(2) {
                let folder = random.pick(folders)
                context.insert(document)
                document.folder = try session.folder(folder)
                session.now.documents[name]?.folder = folder
                session.now.folders[folder]?.append(name)
            } else {
                context.insert(document)
            }
            return "insert \(name)"
        case 3:
            let name = session.name("f")
            context.insert(Folder(name))
            session.now.folders[name] = []
            return "insert \(name)"
        case 4:
            let name = session.name("l")
            context.insert(Label(name))
            session.now.labels.insert(name)
            return "insert \(name)"
        case 5...7 where !documents.isEmpty:
            let name = random.pick(documents)
            let number = random.below(100)
            try session.document(name).number = number
            session.now.documents[name]?.number = number
            return "set \(name)"
        case 8...9 where !documents.isEmpty:
            let name = random.pick(documents)
            let count = random.pick([8, 100, 5_000])
            let text = String(10_000_000 + random.below(80_000_000))
            let bytes = Data(repeating: 65, count: count - 8) + Data(text.utf8)
            let document = try session.document(name)
            if let body = document.body, random.oneIn(2) { body.bytes = bytes } else { document.body = Body(bytes) }
            session.now.documents[name]?.text = text
            session.now.documents[name]?.body = count
            return "body \(name)"
        case 10...12 where !documents.isEmpty && !folders.isEmpty:
            let name = random.pick(documents)
            let target: String? = random.oneIn(4) ? nil : random.pick(folders)
            let old = session.now.documents[name]?.folder
            try session.document(name).folder = target.map { try session.folder($0) }
            if old != target {
                leave(name)
                session.now.documents[name]?.folder = target
                if let target { session.now.folders[target]?.append(name) }
            }
            return "move \(name) to \(target ?? "nothing")"
        case 13...14 where !documents.isEmpty && !folders.isEmpty:
            let folder = random.pick(folders)
            var wanted = session.now.folders[folder] ?? []
            if !random.oneIn(3) { wanted.append(random.pick(documents)) }
            wanted.shuffle(using: &random)
            if random.oneIn(3), !wanted.isEmpty { wanted.removeLast() }
            var seen: Set<String> = []
            wanted = wanted.filter { seen.insert($0).inserted }
            try session.folder(folder).documents = wanted.map { try session.document($0) }
            for name in session.now.folders[folder] ?? [] where !seen.contains(name) {
                session.now.documents[name]?.folder = nil
            }
            for name in wanted where session.now.documents[name]?.folder != folder {
                leave(name)
                session.now.documents[name]?.folder = folder
            }
            session.now.folders[folder] = wanted
            return "assign \(folder) \(wanted)"
        case 15...16 where !documents.isEmpty && !labels.isEmpty:
            let name = random.pick(documents)
            let wanted = Set((0..<random.below(3)).map { _ in random.pick(labels) })
            try session.document(name).labels = wanted.map { try session.label($0) }
            session.now.documents[name]?.labels = wanted
            return "labels \(name) \(wanted)"
        case 17 where !documents.isEmpty && !labels.isEmpty:
            let label = random.pick(labels)
            let name = random.pick(documents)
            try session.label(label).documents.append(session.document(name))
            session.now.documents[name]?.labels.insert(label)
            return "label \(label) on \(name)"
        case 18 where !documents.isEmpty:
            let name = random.pick(documents)
            context.delete(try session.document(name))
            leave(name)
            session.now.documents[name] = nil
            // Links are cleared when deletions are propagated.
            context.processPendingChanges()
            return "delete \(name)"
        case 19 where !folders.isEmpty:
            let folder = random.pick(folders)
            context.delete(try session.folder(folder))
            context.processPendingChanges()
            for name in session.now.folders[folder] ?? [] { session.now.documents[name] = nil }
            session.now.folders[folder] = nil
            return "delete \(folder)"
        case 20 where !labels.isEmpty && random.oneIn(2):
            let label = random.pick(labels)
            context.delete(try session.label(label))
            context.processPendingChanges()
            session.now.labels.remove(label)
            for name in documents { session.now.documents[name]?.labels.remove(label) }
            return "delete \(label)"
        case 21:
            try context.save()
            session.saved = session.now
            return "save"
        case 22 where random.oneIn(2):
            context.rollback()
            session.now = session.saved
            return "rollback"
        case 23 where random.oneIn(4):
            session.now = session.saved
            session.context = try session.store.reopened()
            return "reopen"
        default:
            return "nothing"
        }
    }

    @Test(arguments: Seed.list(16)) func theStoreAgreesWithPlainValues(seed: Seed) throws {
        var random = seed
        let session = Session(try TestStore(Folder.self), Plain())
        var steps: [String] = []
        for number in 0..<300 {
            steps.append(try Self.step(session, &random))
            if number % 4 == 0 || steps.last == "save" || steps.last == "rollback" {
                let read = try session.read()
                #expect(read == session.now, "\(steps.suffix(14)) \(seed.replayLine)")
                if read != session.now { return }
            }
            if steps.last == "save" {
                let other = Session(session.store, session.saved)
                #expect(try other.read() == session.saved, "fresh context after \(steps.suffix(14)) \(seed.replayLine)")
            }
        }
        try session.context.save()
        session.saved = session.now
        session.context = try session.store.reopened()
        #expect(try session.read() == session.saved, "\(seed.replayLine)")
    }

    @Test(arguments: Seed.list(8)) func twoContextsThatTakeTurnsAgree(seed: Seed) throws {
        var random = seed
        let store = try TestStore(Folder.self)
        let sessions = [Session(store, Plain()), Session(store, Plain())]
        var steps: [String] = []
        for turn in 0..<40 {
            let session = sessions[turn % 2]
            let other = sessions[(turn + 1) % 2]
            session.saved = other.saved
            session.now = other.saved
            session.nextName = other.nextName
            for _ in 0..<random.below(8) {
                let step = try Self.step(session, &random)
                if step == "reopen" { return }
                steps.append("\(turn % 2) \(step)")
            }
            let read = try session.read()
            #expect(read == session.now, "\(steps.suffix(14)) \(seed.replayLine)")
            if read != session.now { return }
            try session.context.save()
            session.saved = session.now
        }
        try store.reopen()
    }
}
