import Faultline
import FaultlineStore
import FaultlineTestSupport
import Testing

/// All 16 pairs of delete rules, on every kind of relationship, from both sides, compared with plain values.
@Suite struct DeleteRuleMatrixTests {
    /// Which objects the context has loaded before some are deleted.
    enum Mode: CaseIterable {
        /// Only those that are deleted.
        case unloaded
        /// All of them, with their relationships.
        case loaded
        /// The same, and each has an unsaved change.
        case changed
        /// All of them, and the rules are applied before the save.
        case processed
        /// None of them was ever saved.
        case unsaved
    }

    @Test(arguments: DeleteRulePair.all) func everyPairDoesWhatItSays(rules: DeleteRulePair) throws {
        let store = try DynamicStore(PlainGraph.Shape.schema(rules))
        var left: [Trial] = []
        for shape in PlainGraph.Shape.all {
            for targets in shape.targets {
                for mode in Mode.allCases {
                    let trial = Trial(store.container, shape, rules, mode, "\(left.count) ")
                    left.append(trial)
                    try trial.run(targets)
                }
            }
        }
        #expect(try store.findings() == [])
        let again = try store.reopened()
        #expect(try store.findings() == [])
        for trial in left { try trial.check(again, "reopened") }
    }

    /// One deletion in its own graph.
    private final class Trial {
        let container: ModelContainer
        let shape: PlainGraph.Shape
        let rules: DeleteRulePair
        let mode: Mode
        let prefix: String
        var graph: PlainGraph
        private var held: [String: ManagedObject] = [:]

        init(
            _ container: ModelContainer, _ shape: PlainGraph.Shape, _ rules: DeleteRulePair, _ mode: Mode,
            _ prefix: String
        ) {
            self.container = container
            self.shape = shape
            self.rules = rules
            self.mode = mode
            self.prefix = prefix
            graph = PlainGraph(shape)
        }

        func words(_ place: String) -> Comment { "\(rules), \(shape.left.entity), \(mode), \(prefix): \(place)" }

        func run(_ targets: [String]) throws {
            let context = try prepare()
            let doomed = graph.doomed(targets, rules)
            let denials = graph.denials(doomed, rules, shape)
            let names = Dictionary(uniqueKeysWithValues: held.map { ($1.objectID, $0) })
            let objects = targets.compactMap { held[$0] }
            #expect(objects.count == targets.count, words("targets"))
            if mode != .unsaved {
                // Deleted, and inserted again.
                objects.forEach(context.delete)
                if mode == .processed { context.processPendingChanges() }
                context.rollback()
                try check(context, "rolled back")
                if mode == .changed { for object in held.values { object["note"] = 2 } }
            }
            objects.dropFirst().forEach(context.delete)
            let plan = try context.deletePlan(for: objects[0])
            expect(plan.refusals, denials, names, "plan")
            #expect(plan.objectCount == doomed.count, words("plan of \(targets)"))
            #expect(!objects[0].isDeleted, words("plan"))
            objects.forEach(context.delete)
            let pending = try context.deletePlan()
            #expect(pending.deleted == plan.deleted && pending.cleared == plan.cleared, words("plan"))
            #expect(Set(pending.refusals) == Set(plan.refusals), words("plan"))
            if mode == .processed { context.processPendingChanges() }
            guard denials.isEmpty else { return try expectDenied(context, objects, denials, names) }
            try context.save()
            let dangling = graph.danglingCount(doomed, rules, shape)
            graph.remove(doomed)
            try check(context, "saved \(targets)")
            for (node, object) in held {
                // Objects that were never saved leave the context.
                let isGone = mode == .unsaved ? object.modelContext == nil : object.isDeleted
                #expect(isGone == doomed.contains(node), words("\(node) saved \(targets)"))
                #expect(object["name"] as? String == prefix + node, words("\(node) saved \(targets)"))
            }
            try check(ModelContext(container), "saved \(targets), elsewhere")
            if mode != .unsaved {
                #expect(try danglingCount() == dangling, words("dangling, saved \(targets)"))
            }
        }

        /// Checks that nothing is saved and nothing is lost.
        private func expectDenied(
            _ context: ModelContext, _ objects: [ManagedObject], _ denials: Set<PlainGraph.Denial>,
            _ names: [PersistentIdentifier: String]
        ) throws {
            let error = #expect(throws: SwiftDataError.self, words("denied")) { try context.save() }
            #expect(error == .modelValidationFailure, words("denied"))
            expect(error?.findings ?? [], denials, names, "save")
            // The deletions can be taken back; then everything can be saved.
            for object in objects { context.insert(object) }
            try check(context, "denied")
            try context.save()
            try check(context, "saved after it was denied")
            try check(ModelContext(container), "denied, elsewhere")
        }

        private func expect(
            _ findings: [ValidationFinding], _ denials: Set<PlainGraph.Denial>, _ names: [PersistentIdentifier: String],
            _ place: String
        ) {
            let found = findings.map {
                PlainGraph.Denial(node: names[$0.object] ?? "?", property: $0.propertyName ?? "")
            }
            #expect(Set(found) == denials && found.count == denials.count, words("findings of the \(place)"))
            #expect(findings.allSatisfy { $0.rule == .deny }, words("rules of the \(place)"))
        }

        /// Makes the graph, and a context that has loaded as much of it as the mode specifies.
        private func prepare() throws -> ModelContext {
            let maker = ModelContext(container)
            for node in shape.nodes { held[node] = try maker.make(shape.entity(of: node), ["name": prefix + node]) }
            for edge in shape.edges {
                guard let left = held[edge.left], let right = held[edge.right] else { continue }
                if shape.left.isToOne {
                    left[shape.left.property] = right
                } else {
                    let others = left[shape.left.property] as? [ManagedObject] ?? []
                    left[shape.left.property] = others + [right]
                }
            }
            if mode == .unsaved { return maker }
            try maker.save()
            let context = ModelContext(container)
            for node in shape.nodes { held[node] = try context.named(prefix + node, shape.entity(of: node)) }
            if mode == .unloaded {
                let targets = Set(shape.targets.flatMap { $0 })
                held = held.filter { targets.contains($0.key) }
            } else {
                try check(context, "prepared")
            }
            if mode == .changed { for object in held.values { object["note"] = 1 } }
            return context
        }

        /// Compares the whole graph with the objects that a context shows.
        func check(_ context: ModelContext, _ place: String) throws {
            var found: [String: ManagedObject] = [:]
            for entity in Set([shape.left.entity, shape.right.entity]) {
                let filter = Filter.key("name").beginsWith(prefix)
                for object in try context.fetch(FetchRequest(entityName: entity, filter: filter)) {
                    found[name(object)] = object
                }
            }
            #expect(Set(found.keys) == graph.nodes, words(place))
            for (node, object) in found {
                if shape.isSelf || node.hasPrefix("l") {
                    #expect(names(object, shape.left.property) == graph.rights(of: node), words("\(node) \(place)"))
                }
                if shape.isSelf || node.hasPrefix("r") {
                    #expect(names(object, shape.right.property) == graph.lefts(of: node), words("\(node) \(place)"))
                }
            }
        }

        private func name(_ object: ManagedObject) -> String {
            String((object["name"] as? String ?? prefix + "?").dropFirst(prefix.count))
        }

        private func names(_ object: ManagedObject, _ property: String) -> Set<String> {
            switch object[property] {
            case let target as ManagedObject: [name(target)]
            case let members as [ManagedObject]: Set(members.map(name))
            default: []
            }
        }

        /// The number of references in rows of the trial's objects whose target is gone.
        private func danglingCount() throws -> Int {
            let store = container.rowStore
            let context = ModelContext(container)
            var count = 0
            for name in Set([shape.left.entity, shape.right.entity]) {
                guard let entity = store.storage.entity(named: name) else { continue }
                let filter = Filter.key("name").beginsWith(prefix)
                let request = FetchRequest(entityName: name, filter: filter)
                let numbers = Set(try context.fetchIdentifiers(request).map(\.number))
                count += try store.danglingReferences(of: entity).count { numbers.contains($0) }
            }
            return count
        }
    }
}
