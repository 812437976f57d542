import Faultline
import FaultlineTestSupport
import Testing

/// The expected contents of a store, in plain values; folders and documents have unique names that are never
/// reused.
struct PlainContents: Equatable {
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
final class RandomSession {
    let store: TestStore
    var context: ModelContext
    var saved: PlainContents
    var now: PlainContents
    var nextName = 0

    init(_ store: TestStore, _ saved: PlainContents) {
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
    func read() throws -> PlainContents {
        var plain = PlainContents()
        for document in try context.all(Document.self) {
            plain.documents[document.title] = PlainContents.Document(
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

/// The operations: each changes objects and plain values alike, and returns a name for the trace of a failure.
extension RandomSession {
    /// Carries out a random operation.
    func step(_ random: inout Seed) throws -> String {
        switch random.below(24) {
        case 0...4: try insert(&random)
        case 5...9: try changeDocument(&random)
        case 10...14: try changeFolder(&random)
        case 15...17: try changeLabels(&random)
        case 18...20: try delete(&random)
        default: try endUnit(&random)
        }
    }

    private func insert(_ random: inout Seed) throws -> String {
        switch random.below(5) {
        case 0:
            let name = name("f")
            context.insert(Folder(name))
            now.folders[name] = []
            return "insert \(name)"
        case 1:
            let name = name("l")
            context.insert(Label(name))
            now.labels.insert(name)
            return "insert \(name)"
        default:
            let name = name("d")
            let document = Document(name, number: random.below(100))
            now.documents[name] = PlainContents.Document(number: document.number, text: "")
            context.insert(document)
            if let folder = now.folders.keys.sorted().randomElement(using: &random), random.oneIn(2) {
                document.folder = try self.folder(folder)
                now.documents[name]?.folder = folder
                now.folders[folder]?.append(name)
            }
            return "insert \(name)"
        }
    }

    private func changeDocument(_ random: inout Seed) throws -> String {
        guard let name = now.documents.keys.sorted().randomElement(using: &random) else { return "nothing" }
        let document = try document(name)
        if random.below(5) < 3 {
            document.number = random.below(100)
            now.documents[name]?.number = document.number
            return "set \(name)"
        }
        let count = random.pick([8, 100, 5_000])
        let text = String(10_000_000 + random.below(80_000_000))
        let bytes = Data(repeating: 65, count: count - 8) + Data(text.utf8)
        if let body = document.body, random.oneIn(2) { body.bytes = bytes } else { document.body = Body(bytes) }
        now.documents[name]?.text = text
        now.documents[name]?.body = count
        return "body \(name)"
    }

    private func changeFolder(_ random: inout Seed) throws -> String {
        let documents = now.documents.keys.sorted()
        let folders = now.folders.keys.sorted()
        guard !documents.isEmpty, !folders.isEmpty else { return "nothing" }
        if random.below(5) < 2 { return try assign(random.pick(folders), documents, &random) }
        let name = random.pick(documents)
        let target: String? = random.oneIn(4) ? nil : random.pick(folders)
        let old = now.documents[name]?.folder
        try document(name).folder = target.map { try folder($0) }
        if old != target {
            leaveFolder(name)
            now.documents[name]?.folder = target
            if let target { now.folders[target]?.append(name) }
        }
        return "move \(name) to \(target ?? "nothing")"
    }

    /// Assigns other members to a folder, in another order.
    private func assign(_ folder: String, _ documents: [String], _ random: inout Seed) throws -> String {
        var wanted = now.folders[folder] ?? []
        if !random.oneIn(3) { wanted.append(random.pick(documents)) }
        wanted.shuffle(using: &random)
        if random.oneIn(3), !wanted.isEmpty { wanted.removeLast() }
        var seen: Set<String> = []
        wanted = wanted.filter { seen.insert($0).inserted }
        try self.folder(folder).documents = wanted.map { try document($0) }
        for name in now.folders[folder] ?? [] where !seen.contains(name) { now.documents[name]?.folder = nil }
        for name in wanted where now.documents[name]?.folder != folder {
            leaveFolder(name)
            now.documents[name]?.folder = folder
        }
        now.folders[folder] = wanted
        return "assign \(folder) \(wanted)"
    }

    /// Removes a document from its folder in the plain values.
    private func leaveFolder(_ name: String) {
        if let old = now.documents[name]?.folder { now.folders[old]?.removeAll { $0 == name } }
    }

    private func changeLabels(_ random: inout Seed) throws -> String {
        let labels = now.labels.sorted()
        guard let name = now.documents.keys.sorted().randomElement(using: &random), !labels.isEmpty else {
            return "nothing"
        }
        if random.oneIn(3) {
            let label = random.pick(labels)
            try self.label(label).documents.append(document(name))
            now.documents[name]?.labels.insert(label)
            return "label \(label) on \(name)"
        }
        let wanted = Set((0..<random.below(3)).map { _ in random.pick(labels) })
        try document(name).labels = wanted.map { try label($0) }
        now.documents[name]?.labels = wanted
        return "labels \(name) \(wanted)"
    }

    /// Deletes an object; links are cleared when deletions are propagated.
    private func delete(_ random: inout Seed) throws -> String {
        switch random.below(3) {
        case 0:
            guard let name = now.documents.keys.sorted().randomElement(using: &random) else { return "nothing" }
            context.delete(try document(name))
            context.processPendingChanges()
            leaveFolder(name)
            now.documents[name] = nil
            return "delete \(name)"
        case 1:
            guard let folder = now.folders.keys.sorted().randomElement(using: &random) else { return "nothing" }
            context.delete(try self.folder(folder))
            context.processPendingChanges()
            for name in now.folders[folder] ?? [] { now.documents[name] = nil }
            now.folders[folder] = nil
            return "delete \(folder)"
        default:
            guard let label = now.labels.sorted().randomElement(using: &random), random.oneIn(2) else {
                return "nothing"
            }
            context.delete(try self.label(label))
            context.processPendingChanges()
            now.labels.remove(label)
            for name in now.documents.keys.sorted() { now.documents[name]?.labels.remove(label) }
            return "delete \(label)"
        }
    }

    /// Saves, rolls back, or opens the store again.
    private func endUnit(_ random: inout Seed) throws -> String {
        switch random.below(12) {
        case 0...3:
            try context.save()
            saved = now
            return "save"
        case 4...5:
            context.rollback()
            now = saved
            return "rollback"
        case 6:
            now = saved
            context = try store.reopened()
            return "reopen"
        default: return "nothing"
        }
    }
}
