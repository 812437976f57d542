internal import Faultline
internal import Foundation

extension GraphSession {
    /// Fetches everything and compares it with the model.
    func compareAll() throws {
        moveToNewest()
        chooseCompared()
        for (kind, type) in GraphKind.all.enumerated() {
            let found = try all(type)
            let wanted = view.nodes.keys.filter { view.isThere($0) && isOf($0, kind) }.sorted()
            guard found.map(\.key).sorted() == wanted else {
                throw GraphViolation("\(type): there are \(found.map(\.key).sorted()) instead of \(wanted)")
            }
            for object in found where isCompared(object.key) { try compare(object, object.key) }
        }
    }

    /// Compares the objects that the context reads, without moving it on.
    func compare() throws {
        chooseCompared()
        for key in view.nodes.keys.sorted() where view.isThere(key) && isCompared(key) { try compare(object(key), key) }
    }

    private func all<T: GraphObject>(_ type: T.Type) throws -> [any GraphObject] {
        try context.fetch(FetchDescriptor<T>())
    }

    func compare(_ object: any GraphObject, _ key: Int) throws {
        guard let node = view.nodes[key] else { throw GraphViolation("object \(key) is not known") }
        func expect<V: Equatable>(_ name: String, _ found: V, _ wanted: V) throws {
            if found != wanted { throw GraphViolation("\(name) of \(key) is \(found) instead of \(wanted)") }
        }
        try expect("key", object.key, key)
        try expect("class", GraphKind.place(of: type(of: object)), node.kind)
        try expect("isDeleted", object.isDeleted, false)
        try expect("number", object.number, node.number)
        try expect("name", object.name, node.name)
        let photo = object.photo
        try expect("photo", photo?.count, node.photo?.count)
        if let photo, let wanted = node.photo { try expect("photo", photo == wanted.bytes, true) }
        if let asset = object as? Asset {
            try expect("mark", asset.mark, node.mark)
            try expect("own values", asset.own, node.own)
        }
        for place in shape.ofKind[node.kind] {
            let property = shape.properties[place]
            var found = property.read(object).map(\.key)
            var wanted = view.shown(key, place)
            if world.canary == .order, wanted.count > 1 { wanted.swapAt(0, 1) }
            if isMerged {
                found.sort()
                wanted.sort()
            }
            try expect(property.name, found, wanted)
            guard let handle = property.handle, (key + place) % 5 == 0 else { continue }
            try expect("\(property.name).count", handle.count(object), wanted.count)
            try expect("\(property.name).isEmpty", handle.isEmpty(object), wanted.isEmpty)
            var walked = handle.all(object).map(\.key)
            if isMerged { walked.sort() }
            try expect("\(property.name), one at a time,", walked, wanted)
        }
    }

    // MARK: Queries

    /// Queries objects by their values and references.
    func ask(_ number: Int) throws {
        moveToNewest()
        func expect(_ name: String, _ found: [any GraphObject], _ kind: any GraphObject.Type, _ isOne: (Int) -> Bool)
            throws
        {
            let kind = GraphKind.place(of: kind)
            let wanted = view.nodes.keys.filter { view.isThere($0) && isOf($0, kind) && isOne($0) }.sorted()
            guard found.map(\.key).sorted() == wanted else {
                throw GraphViolation("\(name): \(found.map(\.key).sorted()) instead of \(wanted)")
            }
        }
        func numberOf(_ key: Int) -> Int { view.nodes[key]?.number ?? -1 }
        func firms(_ key: Int) -> [Int] { view.shown(key, firm) }
        let firm = place("Person.firm")
        let chosen = number % 20
        switch number % 14 {
        case 0:
            let found = try context.fetch(
                FetchDescriptor<Person>(
                    predicate: #Predicate { $0.number >= chosen }, sortBy: [SortDescriptor(\.number)]))
            try expect("persons of at least \(chosen)", found, Person.self) { numberOf($0) >= chosen }
            guard found.map(\.number) == found.map(\.number).sorted() else { throw GraphViolation("they are unsorted") }
        case 1:
            try expect(
                "persons without firm",
                context.fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.firm == nil })), Person.self
            ) { firms($0).isEmpty }
        case 2:
            try expect(
                "persons by their firm",
                context.fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.firm?.number == chosen })), Person.self
            ) { firms($0).first.map(numberOf) == chosen }
        case 3:
            let places = place("Node.children")
            try expect(
                "leaves", context.fetch(FetchDescriptor<Node>(predicate: #Predicate { $0.children.isEmpty })),
                Node.self
            ) { view.shown($0, places).isEmpty }
        case 4:
            let visiting = place("Person.visiting")
            try expect(
                "guests", context.fetch(FetchDescriptor<Person>(predicate: #Predicate { $0.visiting != nil })),
                Person.self
            ) { !view.shown($0, visiting).isEmpty }
        case 5:
            let name: String? = "n\(number)"
            try expect(
                "firms by name", context.fetch(FetchDescriptor<Firm>(predicate: #Predicate { $0.name == name })),
                Firm.self
            ) { view.nodes[$0]?.name == name }
        case 6: try searchNames("n\(number / 10)", of: Person.self, expect)
        case 7: try searchNames("n\(number / 10)", of: Node.self, expect)
        case 9...13: try askAssets(number, expect)
        default:
            let wanted = view.nodes.count { $0.value.kind == 0 && view.isThere($0.key) }
            let found = try context.fetchCount(FetchDescriptor<Firm>())
            guard found == wanted else { throw GraphViolation("\(found) firms instead of \(wanted)") }
        }
    }

    /// Whether an object is of a class, or of one of its subclasses.
    func isOf(_ key: Int, _ kind: Int) -> Bool {
        guard let node = view.nodes[key] else { return false }
        return world.canary == .classes ? node.kind == kind : GraphKind.covers[kind][node.kind]
    }

    /// Searches objects by the beginning of their names.
    func searchNames<T: GraphObject>(
        _ beginning: String, of type: T.Type,
        _ expect: (String, [any GraphObject], any GraphObject.Type, (Int) -> Bool) throws -> Void
    ) throws {
        var found = try context.search(type, "\(beginning)*").map(\.object)
        if world.canary == .postings { found = Array(found.dropLast()) }
        try expect("names that begin with \(beginning)", found, type) {
            view.nodes[$0]?.name?.hasPrefix(beginning) == true
        }
    }

    func place(_ name: String) -> Int { shape.properties.firstIndex { $0.name == name } ?? -1 }
}

extension GraphState.Photo {
    var bytes: Data { Data(repeating: byte, count: count) }
}
