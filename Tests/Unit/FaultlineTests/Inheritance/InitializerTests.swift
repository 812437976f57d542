import Faultline
import Testing

/// A class whose initial values and initializers make other objects of the hierarchy.
@Model class Stem {
    var name: String
    @Transient var helper: Stem? = Stem.makeHelper()
    var parts: [Int] = []

    /// How many objects are to have a helper; a helper itself has none.
    // Safe because the tests of this file run one after the other.
    nonisolated(unsafe) static var helperCount = 0

    private static func makeHelper() -> Stem? {
        guard helperCount > 0 else { return nil }
        let count = helperCount
        helperCount = 0
        defer { helperCount = count - 1 }
        return Twig(name: "helper", weight: -1)
    }

    init(name: String) { self.name = name }
}

@Model final class Twig: Stem {
    var weight: Int
    var companion: Twig?

    init(name: String, weight: Int) {
        self.weight = weight
        super.init(name: name)
    }

    /// Makes another object of the class before and after the call of the superclass.
    init(pairOf name: String) {
        let first = Twig(name: "first", weight: 1)
        self.weight = 2
        self.companion = first
        super.init(name: name)
        first.companion = Twig(name: "second", weight: 3)
    }

    init(slowly name: String, weight: Int) async {
        self.weight = weight
        await Task.yield()
        let other = await Twig.make()
        self.companion = other
        await Task.yield()
        super.init(name: name)
    }

    init(failing: Bool) throws {
        self.weight = 4
        if failing { throw CancellationError() }
        do { super.init(name: "not failing") }
    }

    convenience init(easy: String) { self.init(name: easy, weight: 9) }

    private static func make() async -> Twig { Twig(name: "made", weight: 5) }
}

/// A root class without stored properties.
@Model class Bare {
    init() {}
}

@Model final class Filled: Bare {
    var text: String = "text"

    override init() { super.init() }
}

/// A class that conforms to protocols, and may inherit as far as the macro sees.
protocol Titled {
    var title: String { get }
}

@Model final class Titles: Titled {
    var title: String
    var words: [String] = []
    @Attribute(.ephemeral) var count = 3
    var leaf: Twig?
    var leaves: [Twig] = []

    init(title: String) { self.title = title }
}

@Suite(.serialized) struct InitializerTests {
    private func store() throws -> TestStore {
        try TestStore(Stem.self, Twig.self, Bare.self, Filled.self, Titles.self)
    }

    @Test func `an object that another initializer makes has its own values`() throws {
        let store = try store()
        let context = store.context()
        let leaf = Twig(pairOf: "pair")
        #expect(leaf.weight == 2 && leaf.companion?.weight == 1 && leaf.companion?.companion?.weight == 3)
        context.insert(leaf)
        context.insert(Twig(easy: "easy"))
        try context.save()
        let other = try store.reopened()
        let found = try other.fetch(FetchDescriptor<Twig>(sortBy: [SortDescriptor(\.weight)]))
        #expect(found.map(\.name) == ["first", "pair", "second", "easy"])
        #expect(found[1].companion === found[0] && found[0].companion === found[2])
    }

    @Test func `a suspended initializer keeps its values`() async throws {
        let names = (1...40).map { "leaf \($0)" }
        let made = await withTaskGroup(of: [String].self) { group in
            for name in names {
                group.addTask {
                    let leaf = await Twig(slowly: name, weight: name.count)
                    return [leaf.name, "\(leaf.weight)", leaf.companion?.name ?? "none"]
                }
            }
            return await group.reduce(into: [[String]]()) { $0.append($1) }
        }
        #expect(Set(made.map { $0[0] }) == Set(names))
        #expect(made.allSatisfy { $0[1] == "\($0[0].count)" && $0[2] == "made" })
    }

    @Test func `an initializer that fails leaves nothing`() throws {
        let store = try store()
        let context = store.context()
        #expect(throws: CancellationError.self) { try Twig(failing: true) }
        context.insert(try Twig(failing: false))
        try context.save()
        #expect(try store.reopened().fetch(FetchDescriptor<Stem>()).map(\.name) == ["not failing"])
    }

    @Test func `a fault is not taken by an object that its initial values make`() throws {
        let store = try store()
        let context = store.context()
        context.insert(Twig(name: "a", weight: 1))
        context.insert(Stem(name: "b"))
        try context.save()
        let other = try store.reopened()
        Stem.helperCount = 2
        defer { Stem.helperCount = 0 }
        let found = try other.fetch(FetchDescriptor<Stem>(sortBy: [SortDescriptor(\.name)]))
        #expect(found.map(\.name) == ["a", "b"] && (found[0] as? Twig)?.weight == 1)
        #expect(found.compactMap { ($0.helper as? Twig)?.weight } == [-1, -1])
        #expect(found.allSatisfy { $0.helper?.modelContext == nil && $0.helper?.name == "helper" })
        #expect(found.allSatisfy { $0.modelContext === other })
    }

    @Test func `a root class without properties has subclasses`() throws {
        let store = try store()
        let context = store.context()
        let filled = Filled()
        filled.text = "other"
        context.insert(filled)
        context.insert(Bare())
        try context.save()
        let found = try store.reopened().fetch(FetchDescriptor<Bare>())
        #expect(found.map { ($0 as? Filled)?.text } == ["other", nil])
    }

    @Test func `a root class with protocols is as any other`() throws {
        let store = try store()
        let context = store.context()
        let titles = Titles(title: "t")
        titles.words.append("a")
        titles.words.append("b")
        #expect(titles.count == 3)
        titles.leaf = Twig(name: "l", weight: 1)
        titles.leaves.append(Twig(name: "m", weight: 2))
        context.insert(titles)
        try context.save()
        let found = try #require(try store.reopened().fetch(FetchDescriptor<Titles>()).first)
        #expect(found.title == "t" && found.words == ["a", "b"])
        #expect(found.leaf?.weight == 1 && found.leaves.map(\.name) == ["m"])
    }
}
