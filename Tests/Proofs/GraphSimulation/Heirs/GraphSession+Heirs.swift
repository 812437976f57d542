internal import Faultline
internal import Foundation

// Queries and batches of the classes of a hierarchy.

extension GraphSession {
    /// Compares found objects with those of a class for which a condition holds.
    typealias Expectation = (String, [any GraphObject], any GraphObject.Type, (Int) -> Bool) throws -> Void

    /// Queries a hierarchy by class, by values of its classes, and through relationships.
    func askAssets(_ number: Int, _ expect: Expectation) throws {
        let chosen = number % 20
        func numberOf(_ key: Int) -> Int { view.nodes[key]?.number ?? -1 }
        func power(_ key: Int) -> Int { view.nodes[key]?.own.first ?? -1 }
        func fetch(_ predicate: Predicate<Asset>) throws -> [Asset] {
            try context.fetch(FetchDescriptor(predicate: predicate))
        }
        switch number / 14 % 9 {
        case 0:
            try expect(
                "assets that are machines", fetch(#Predicate { $0 is Machine && $0.number >= chosen }), Machine.self
            ) { numberOf($0) >= chosen }
        case 1:
            try expect("assets that are no machines", fetch(#Predicate { !($0 is Machine) }), Asset.self) {
                !isOf($0, GraphKind.machine)
            }
        case 2:
            let found = try context.fetch(
                FetchDescriptor<Machine>(
                    predicate: #Predicate { $0.power >= chosen }, sortBy: [SortDescriptor(\.power)]))
            try expect("machines of at least \(chosen)", found, Machine.self) { power($0) >= chosen }
            guard found.map(\.power) == found.map(\.power).sorted() else { throw GraphViolation("they are unsorted") }
        case 3:
            let found = try fetch(
                #Predicate { asset in
                    if let machine = asset as? Machine { machine.power == chosen } else { false }
                })
            try expect("machines of \(chosen)", found, Machine.self) { power($0) == chosen }
        case 4:
            let keeper = place("Asset.keeper")
            try expect("assets by their keeper", fetch(#Predicate { $0.keeper?.number == chosen }), Asset.self) {
                view.shown($0, keeper).first.map(numberOf) == chosen
            }
        case 5:
            let driver = place("Machine.driver")
            let found = try context.fetch(FetchDescriptor<Machine>(predicate: #Predicate { $0.driver != nil }))
            try expect("machines with a driver", found, Machine.self) { !view.shown($0, driver).isEmpty }
        case 6:
            let mark: Int? = chosen % 12
            let found = try context.fetch(FetchDescriptor<Machine>(predicate: #Predicate { $0.mark == mark }))
            try expect("machines by their mark", found, Machine.self) { view.nodes[$0]?.mark == mark }
        case 7:
            for type in GraphKind.all[GraphKind.asset...] { try count(type) }
        default:
            try searchNames("n\(number / 10)", of: Asset.self, expect)
            try searchNames("n\(number / 10)", of: Machine.self, expect)
        }
    }

    private func count<T: GraphObject>(_ type: T.Type) throws {
        let kind = GraphKind.place(of: type)
        let wanted = view.nodes.keys.count { view.isThere($0) && isOf($0, kind) }
        let found = try context.fetchCount(FetchDescriptor<T>())
        guard found == wanted else { throw GraphViolation("\(found) objects of \(type) instead of \(wanted)") }
    }

    // MARK: Batches

    /// Whether there is nothing that a save would write.
    var isUnchanged: Bool { pending.isEmpty && !context.hasChanges }

    /// The keys of stored objects of a class with a number.
    private func stored(_ kind: Int, _ number: Int) -> [Int] {
        world.committed.nodes.keys.filter { key in
            world.committed.nodes[key].map { $0.number == number && GraphKind.covers[kind][$0.kind] } ?? false
        }.sorted()
    }

    /// Sets a mark and other values of all stored objects of a class with a number, in a context without changes.
    func updateBatch(_ type: Asset.Type, of number: Int, mark: Int?, power: Int) throws {
        let keys = stored(GraphKind.place(of: type), number)
        var newest = world.committed
        for key in keys {
            newest.apply(.mark(key, mark))
            if type == Asset.self { continue }
            newest.apply(.own(key, place: 0, power))
            if type == Crane.self { newest.apply(.own(key, place: 1, power + 1)) }
        }
        try batch(newest, count: keys.count) {
            switch type {
            case is Crane.Type:
                try context.batchUpdate(
                    Crane.self, where: #Predicate { $0.number == number }, .set(\.mark, to: mark),
                    .set(\.power, to: power), .set(\.reach, to: power + 1))
            case is Machine.Type:
                try context.batchUpdate(
                    Machine.self, where: #Predicate { $0.number == number }, .set(\.mark, to: mark),
                    .set(\.power, to: power))
            case is House.Type:
                try context.batchUpdate(
                    House.self, where: #Predicate { $0.number == number }, .set(\.mark, to: mark),
                    .set(\.power, to: Double(power)))
            default:
                try context.batchUpdate(
                    Asset.self, where: #Predicate { $0.number == number }, .set(\.mark, to: mark))
            }
        }
    }

    /// Deletes all stored objects of a class with a number, in a context without changes.
    func deleteBatch(_ type: Asset.Type, of number: Int) throws {
        var newest = world.committed
        newest.deleted = Set(stored(GraphKind.place(of: type), number))
        try batch(newest, count: newest.doomed(shape).count) {
            switch type {
            case is Crane.Type:
                try context.batchDelete(Crane.self, where: #Predicate { $0.number == number })
            case is Machine.Type:
                try context.batchDelete(Machine.self, where: #Predicate { $0.number == number })
            case is House.Type:
                try context.batchDelete(House.self, where: #Predicate { $0.number == number })
            default:
                try context.batchDelete(Asset.self, where: #Predicate { $0.number == number })
            }
        }
    }

    /// Runs a batch, which must be refused if its result breaks a rule.
    private func batch(_ newest: GraphState, count: Int, _ body: () throws -> BatchResult) throws {
        switch newest.saved(shape, world.canary) {
        case .refused(let reason):
            do { _ = try body() } catch let error as SwiftDataError where error == .modelValidationFailure {
                world.refusalCount += 1
                return
            }
            throw GraphViolation("a batch was saved, but \(reason)")
        case .graph(let result):
            let found = try body().objectCount
            guard found == count else { throw GraphViolation("a batch changed \(found) objects instead of \(count)") }
            adopt(result)
        }
    }
}
