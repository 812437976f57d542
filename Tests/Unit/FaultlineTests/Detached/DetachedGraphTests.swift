import Faultline
import Testing

/// A graph of objects that were never inserted goes with the last of them that the program holds.
@Suite struct DetachedGraphTests {
    private let traces = Traces()

    /// A basket with everything that can be connected to it.
    private func basket(_ name: String = "b", fruitCount: Int = 3) -> Basket {
        let basket = Basket(name, traces.next())
        for number in 0..<fruitCount {
            let fruit = Fruit("\(name)\(number)", traces.next())
            if number % 2 == 0 { basket.fruits.append(fruit) } else { fruit.basket = basket }
        }
        basket.lid = Lid(traces.next())
        let tag = Tag("t", traces.next())
        basket.tags.append(tag)
        let other = Basket("other", traces.next())
        tag.baskets.append(other)
        other.inner = [basket]
        return basket
    }

    // MARK: Freed

    @Test("B7: two objects that refer to each other are freed", arguments: 0..<8)
    func pairs(shape: Int) {
        do {
            let basket = Basket("b", traces.next())
            let fruit = Fruit("f", traces.next())
            switch shape {
            case 0: fruit.basket = basket
            case 1: basket.fruits.append(fruit)
            case 2: basket.fruits = [fruit]
            case 3: basket.lid = Lid(traces.next())
            case 4: Lid(traces.next()).basket = basket
            case 5:
                let tag = Tag("t", traces.next())
                tag.baskets = [basket]
                basket.tags.append(Tag("u", traces.next()))
                #expect(tag.baskets == [basket] && basket.tags.count == 2 && tag.baskets.count == 1)
            case 6: basket.inner.append(basket)
            default: #expect(Fruit(in: basket, traces.next(), isRipe: true)?.basket === basket)
            }
            #expect(traces.livingCount == traces.count)
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: circles without an inverse, and longer ones, are freed")
    func circles() {
        do {
            let (rock, paper, scissors) = (Rock(), Leaf(), Scissors())
            (rock.trace, paper.trace, scissors.trace) = (traces.next(), traces.next(), traces.next())
            rock.leaf = paper
            paper.scissors = scissors
            scissors.rock = rock
            scissors.rocks = [rock]
            #expect(rock.leaf?.scissors?.rock === rock && scissors.rocks == [rock])
        }
        #expect(traces.livingCount == 0)
        do {
            let baskets = (0..<10).map { Basket("\($0)", traces.next()) }
            for place in 0..<10 { baskets[place].inner = [baskets[(place + 1) % 10]] }
            let tags = (0..<10).map { Tag("\($0)", traces.next()) }
            for basket in baskets { basket.tags = tags }
            for tag in tags { #expect(tag.baskets == baskets) }
            for basket in baskets { #expect(basket.tags == tags) }
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: a graph lives while any of its objects is held, and not longer")
    func theLastObjectFreesTheGraph() {
        var fruit: Fruit? = basket().fruits[1]
        #expect(traces.livingCount == traces.count)
        #expect(fruit?.basket?.tags[0].baskets[1].name == "other")
        fruit = nil
        #expect(traces.livingCount == 0)
    }

    @Test("B7: objects that are taken out of a graph, and not held, are freed before the graph")
    func partsAreFreed() {
        let basket = Basket("b", traces.next())
        for number in 0..<1_000 {
            basket.fruits = [Fruit("\(number)", traces.next())]
            basket.lid = Lid(traces.next())
        }
        #expect(traces.livingCount == 3)
        basket.fruits = []
        basket.lid = nil
        #expect(traces.livingCount == 1)
        #expect(traces.count == 2_001)
    }

    @Test("B7: of objects that refer one way, those that nothing leads to are freed at once")
    func oneWay() {
        let scissors = Scissors()
        for _ in 0..<100 {
            let leaf = Leaf()
            leaf.trace = traces.next()
            leaf.scissors = scissors
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: a chain longer than the stack is deep is freed")
    func longChains() {
        do {
            let first = Rock()
            first.trace = traces.next()
            var last = first
            for _ in 0..<100_000 {
                let (leaf, scissors, rock) = (Leaf(), Scissors(), Rock())
                rock.trace = traces.next()
                last.leaf = leaf
                leaf.scissors = scissors
                scissors.rock = rock
                last = rock
            }
        }
        #expect(traces.livingCount == 0)
        let before = traces.count
        do {
            var outer = Basket("0", traces.next())
            for number in 1..<100_000 {
                let inner = Basket("\(number)", traces.next())
                if number % 3 == 0 { inner.inner = [outer] } else { outer.inner.append(inner) }
                outer = inner
            }
            #expect(traces.livingCount == traces.count - before)
        }
        #expect(traces.livingCount == 0)
    }

    // MARK: Made again

    @Test("B7: an object that was let go of is reached again, with its values, identity and observers")
    func objectsAreMadeAgain() {
        let fruit = basket().fruits[0]
        var identifiers: Set<PersistentIdentifier> = []
        for _ in 0..<3 {
            guard let basket = fruit.basket else {
                Issue.record("no basket")
                return
            }
            #expect(basket === fruit.basket)
            #expect(basket.name == "b" && basket.modelContext == nil && !basket.isDeleted)
            #expect(basket.fruits.map(\.name) == ["b0", "b1", "b2"] && basket.fruits[0] === fruit)
            #expect(basket.lid?.basket === basket)
            identifiers.insert(basket.persistentModelID)
        }
        #expect(identifiers.count == 1)
        fruit.basket?.name = "c"
        fruit.basket?.fruits.append(Fruit("new", traces.next()))
        #expect(fruit.basket?.name == "c" && fruit.basket?.fruits.last?.basket === fruit.basket)
    }

    @Test("B7: a graph of which one object is held is inserted as a whole", arguments: 0..<3)
    func insertion(which: Int) throws {
        let store = try TestStore(Basket.self)
        let context = store.context()
        do {
            let basket = basket()
            switch which {
            case 0: context.insert(basket)
            case 1: context.insert(basket.fruits[1])
            default: context.insert(basket.tags[0])
            }
        }
        #expect(context.insertedModelsArray.count == 7)
        try context.save()
        let read = try store.reopened()
        let stored = try #require(try read.all(Basket.self).first { $0.name == "b" })
        #expect(Set(stored.fruits.map(\.name)) == ["b0", "b1", "b2"])
        #expect(stored.lid != nil && stored.tags.map(\.name) == ["t"])
        #expect(Set(try #require(stored.tags.first).baskets.map(\.name)) == ["b", "other"])
    }

    @Test("B7: objects are freed with their context, and after a rollback")
    func afterARollback() throws {
        let store = try TestStore(Basket.self, place: .memory)
        do {
            let context = store.context()
            context.insert(basket())
            #expect(traces.livingCount == traces.count)
            context.rollback()
            #expect(traces.livingCount == 0)
            let fruit = basket().fruits[0]
            context.insert(fruit)
            context.rollback()
            let basket = Basket("again", traces.next())
            basket.fruits.append(fruit)
            #expect(fruit.basket === basket)
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: an initializer that fails leaves nothing behind")
    func failedInitializers() {
        do {
            let basket = Basket("b", traces.next())
            #expect(Fruit(in: basket, traces.next(), isRipe: false) == nil)
            #expect(basket.fruits.isEmpty)
            #expect(traces.livingCount == 1)
            #expect(Fruit(in: basket, traces.next(), isRipe: true)?.basket === basket)
            #expect(basket.fruits.count == 1)
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: an object with stored properties of its own stays itself, with the objects it is connected to")
    func storedProperties() {
        let basket = Basket("b", traces.next())
        do {
            let clasp = Clasp(basket)
            clasp.scratch = 7
        }
        #expect(basket.clasp?.scratch == 7 && basket.clasp?.basket === basket)
        basket.clasp = nil
        #expect(basket.clasp == nil)
    }

    // MARK: Cost

    @Test("B7: appends to a collection whose owner is a member cost the same in a large one")
    func appendsBelowOthers() {
        let root = Basket("root", nil)
        for outer in 0..<10 {
            let basket = Basket("\(outer)", nil)
            root.inner.append(basket)
            for number in 0..<2_000 {
                let fruit = Fruit("\(number)", nil)
                fruit.pips = [Pip(), Pip()]
                basket.fruits.append(fruit)
            }
            #expect(basket._$coreAddress().pointee.comparedMembers(3) < 200_000)
            #expect(basket.fruits.count == 2_000)
        }
        #expect(root.inner.allSatisfy { $0.fruits.allSatisfy { $0.pips.count == 2 } })
    }

    @Test("B7: members replaced in a large collection, whose owner then goes, are those that were set")
    func replacedInPlace() {
        let pip = Pip()
        do {
            let fruit = Fruit("f", nil)
            pip.fruit = fruit
            for _ in 0..<600 { fruit.pips.append(Pip()) }
            let new = Pip()
            func exchange(_ pips: inout [Pip]) {
                pips[5] = new
                pips.append(Pip())
            }
            exchange(&fruit.pips)
        }
        #expect(pip.fruit?.pips.count == 602)
        #expect(pip.fruit?.pips.allSatisfy { $0.fruit === pip.fruit } == true)
    }

    // MARK: Threads

    @Test("B7: objects are released on other threads while one thread uses the graph")
    func releasesOnOtherThreads() async {
        for _ in 0..<20 {
            let basket = basket(fruitCount: 200)
            let held = Held(basket.fruits.map { [$0] } + [basket.inner, []])
            async let released: Void = Task.detached { for place in 0..<200 { held.release(place) } }.value
            for _ in 0..<5 {
                let first = basket.fruits[0]
                let names = first.basket?.fruits.map(\.name) ?? []
                #expect(names.count == 200 && Set(names).count == 200)
                #expect(basket.tags[0].baskets[1].inner == [basket])
                basket.tags[0].baskets[0].fruits = basket.fruits.reversed()
            }
            await released
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: objects that one thread releases are made again by another")
    func madeAgainAmidReleases() async {
        for _ in 0..<20 {
            let root = Basket("root", traces.next())
            let lids = (0..<200).map { _ in Lid(traces.next()) }
            for (place, lid) in lids.enumerated() {
                let basket = Basket("\(place)", traces.next())
                lid.basket = basket
                root.inner.append(basket)
            }
            let held = Held(lids.map { [$0] })
            async let released: Void = Task.detached { for place in 0..<200 { held.release(place) } }.value
            for _ in 0..<5 {
                for basket in root.inner.reversed() { #expect(basket.lid?.basket === basket) }
            }
            await released
        }
        #expect(traces.livingCount == 0)
    }

    @Test("B7: a graph is handed to another thread, which drops it")
    func handedOver() async {
        for _ in 0..<50 {
            let held = Held([[basket(fruitCount: 20).fruits[3]]])
            let count = await Task.detached {
                let count = held.objects[0].first.flatMap { ($0 as? Fruit)?.basket?.fruits.count }
                held.release(0)
                return count
            }.value
            #expect(count == 20)
        }
        #expect(traces.livingCount == 0)
    }
}

/// Objects that one thread takes from another.
// Safe because each place is used by one thread.
private final class Held: @unchecked Sendable {
    var objects: [[AnyObject]]
    private let count: Int

    init(_ objects: [[AnyObject]]) {
        self.objects = objects
        count = objects.count
    }

    func release(_ place: Int) { objects[place] = [] }
}
