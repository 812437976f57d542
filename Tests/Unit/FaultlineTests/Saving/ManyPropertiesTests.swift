import Faultline
import Testing

/// Entities with more properties than the bits in a change mask.
@Suite struct ManyPropertiesTests {
    private let store: TestStore

    init() throws { store = try TestStore(Wide.self) }

    /// One stored object as two contexts read it.
    private func pair() throws -> (first: ModelContext, ours: Wide, second: ModelContext, theirs: Wide) {
        let context = store.context()
        let owners = [WideOwner("a"), WideOwner("b")]
        owners.forEach(context.insert)
        let wide = Wide()
        context.insert(wide)
        wide.owner = owners[0]
        try context.save()
        let (first, second) = (store.context(), store.context())
        let (ours, theirs) = (try first.first(Wide.self), try second.first(Wide.self))
        #expect(ours.p00 == 0 && theirs.p00 == 0)
        return (first, ours, second, theirs)
    }

    @Test("A6: two contexts that set different properties behind the 63rd keep both values")
    func differentPropertiesMerge() throws {
        let (first, ours, second, theirs) = try pair()
        ours.p65 = 65
        theirs.p69 = 69
        theirs.p03 = 3
        try second.save()
        try first.save()
        let read = try store.reopened().first(Wide.self)
        #expect(read.p65 == 65)
        #expect(read.p69 == 69)
        #expect(read.p03 == 3)
    }

    @Test("A6: a save leaves a relationship alone that it did not set")
    func relationshipsStay() throws {
        let (first, ours, second, theirs) = try pair()
        ours.p65 = 65
        theirs.owner = try second.all(WideOwner.self, sortBy: [SortDescriptor(\.name)])[1]
        try second.save()
        try first.save()
        let read = try store.reopened()
        #expect(try read.first(Wide.self).owner?.name == "b")
        #expect(try read.all(WideOwner.self, sortBy: [SortDescriptor(\.name)]).map(\.wides.count) == [0, 1])
    }

    @Test("A6: a save leaves a unique value alone that it did not set")
    func uniqueValuesStay() throws {
        let (first, ours, second, theirs) = try pair()
        theirs.code = "code"
        try second.save()
        ours.p65 = 65
        theirs.code = "other"
        try second.save()
        try first.save()
        let read = try store.reopened()
        let coded = FetchDescriptor<Wide>(predicate: #Predicate { $0.code == "other" })
        #expect(try read.fetch(coded).map(\.p65) == [65])
        // The previous value can be used again.
        let next = Wide()
        next.code = "code"
        read.insert(next)
        try read.save()
        #expect(try read.fetchCount(FetchDescriptor<Wide>()) == 2)
        try store.verify()
    }

    @Test("A6: a save leaves a value out of the row alone that it did not set")
    func valuesOutOfTheRowStay() throws {
        let (first, ours, second, theirs) = try pair()
        ours.p65 = 65
        theirs.note = Data(repeating: 1, count: 20_000)
        try second.save()
        try first.save()
        let read = try store.reopened().first(Wide.self)
        #expect(read.note?.count == 20_000)
        #expect(read.p65 == 65)
    }

    @Test("A6: the property of a merge conflict is the one that both have set")
    func conflictsNameTheProperty() throws {
        let (first, ours, second, theirs) = try pair()
        first.mergePolicy = .mergeByPropertyStoreTrump
        (ours.p64, ours.p65) = (64, 65)
        theirs.p65 = 1
        theirs.p66 = 2
        try second.save()
        try first.save()
        let read = try store.reopened().first(Wide.self)
        #expect(read.p64 == 64 && read.p65 == 1 && read.p66 == 2)
    }

    @Test("A6: a refreshed object keeps exactly its changes")
    func refreshingKeepsChanges() throws {
        let (first, ours, second, theirs) = try pair()
        ours.p65 = 65
        theirs.p69 = 69
        try second.save()
        first.refresh(ours, mergeChanges: true)
        #expect(ours.p65 == 65 && ours.p69 == 69)
        theirs.p69 = 70
        try second.save()
        try first.save()
        #expect(try store.reopened().first(Wide.self).p69 == 70)
    }

    @Test("A6: a constraint of two values holds where two contexts set one of them each")
    func constraintsOfTwoValuesMerge() throws {
        let store = try TestStore(User.self)
        let context = store.context()
        context.insert(User("a", first: "A", last: "B"))
        try context.save()
        let (first, second) = (store.context(), store.context())
        let (ours, theirs) = (try first.first(User.self), try second.first(User.self))
        ours.first = "C"
        theirs.last = "D"
        try second.save()
        try first.save()
        try store.verify()
        let again = store.context()
        again.insert(User("b", first: "C", last: "B"))
        try again.save()
        #expect(try again.fetchCount(FetchDescriptor<User>()) == 2)
        again.insert(User("c", first: "C", last: "D"))
        try again.save()
        #expect(try store.reopened().fetchCount(FetchDescriptor<User>()) == 2)
    }
}

@Model final class Wide {
    var p00: Int = 0
    var p01: Int = 0
    var p02: Int = 0
    var p03: Int = 0
    var p04: Int = 0
    var p05: Int = 0
    var p06: Int = 0
    var p07: Int = 0
    var p08: Int = 0
    var p09: Int = 0
    var p10: Int = 0
    var p11: Int = 0
    var p12: Int = 0
    var p13: Int = 0
    var p14: Int = 0
    var p15: Int = 0
    var p16: Int = 0
    var p17: Int = 0
    var p18: Int = 0
    var p19: Int = 0
    var p20: Int = 0
    var p21: Int = 0
    var p22: Int = 0
    var p23: Int = 0
    var p24: Int = 0
    var p25: Int = 0
    var p26: Int = 0
    var p27: Int = 0
    var p28: Int = 0
    var p29: Int = 0
    var p30: Int = 0
    var p31: Int = 0
    var p32: Int = 0
    var p33: Int = 0
    var p34: Int = 0
    var p35: Int = 0
    var p36: Int = 0
    var p37: Int = 0
    var p38: Int = 0
    var p39: Int = 0
    var p40: Int = 0
    var p41: Int = 0
    var p42: Int = 0
    var p43: Int = 0
    var p44: Int = 0
    var p45: Int = 0
    var p46: Int = 0
    var p47: Int = 0
    var p48: Int = 0
    var p49: Int = 0
    var p50: Int = 0
    var p51: Int = 0
    var p52: Int = 0
    var p53: Int = 0
    var p54: Int = 0
    var p55: Int = 0
    var p56: Int = 0
    var p57: Int = 0
    var p58: Int = 0
    var p59: Int = 0
    var p60: Int = 0
    var p61: Int = 0
    var p62: Int = 0
    var p63: Int = 0
    var p64: Int = 0
    var p65: Int = 0
    var p66: Int = 0
    var p67: Int = 0
    var p68: Int = 0
    var p69: Int = 0
    @Relationship(inverse: \WideOwner.wides) var owner: WideOwner?
    @Attribute(.unique) var code: String?
    @Attribute(.externalStorage) var note: Data?

    init() {}
}

@Model final class WideOwner {
    var name: String
    var wides: [Wide] = []

    init(_ name: String) { self.name = name }
}
