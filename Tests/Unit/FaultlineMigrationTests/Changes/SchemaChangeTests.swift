import Faultline
import FaultlineMigration
import Testing

/// Every kind of change between two schemas: the difference describes it, and the store changes as described.
@Suite struct SchemaChangeTests {
    static let changes = SchemaChange.ofEntities + SchemaChange.ofAttributes + SchemaChange.ofRelationships

    @Test(arguments: changes)
    func `the difference names the step that a change needs, and the reason`(_ change: SchemaChange) {
        let difference = change.new.difference(from: change.old)
        #expect(
            difference.changes.map { "\($0.entityName)\($0.propertyName.map { ".\($0)" } ?? ""): \($0.demand)" }
                == change.verdict)
        #expect(difference.isLightweight == (change.outcome != nil))
        #expect(difference.changes.allSatisfy { $0.reason.hasSuffix(".") })
    }

    @Test(arguments: changes.filter { $0.outcome != nil })
    func `a lightweight change keeps the values that it promises`(_ change: SchemaChange) throws {
        let store = try ChangedStore(change)
        try store.open(change.new) { container, context in
            let isSame = change.old.fingerprint == change.new.fingerprint
            // An index is built in a step, although the meaning of the rows stays the same.
            let addsIndex = change.new.difference(from: change.old).changes.contains {
                if case .indexAdded = $0.kind { true } else { false }
            }
            #expect(container.migrationReport.versions.isEmpty == (isSame && !addsIndex))
            try #expect(store.outcome(context) == change.outcome)
        }
        // Opens the store once more, from the catalog that the migration wrote.
        try store.open(change.new) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(store.outcome(context) == change.outcome)
            try #expect(store.findings(container) == [])
        }
    }

    @Test(arguments: changes.filter { $0.outcome == nil })
    func `any other change is refused, with entity and property, and the store stays as it was`(_ change: SchemaChange)
        throws
    {
        let store = try ChangedStore(change)
        let error = #expect(throws: MigrationError.self) { try store.open(change.new) { _, _ in } }
        #expect(error?.code == .notLightweight)
        for line in change.verdict where !line.hasSuffix("lightweight") {
            #expect(error?.message.contains(line) == true)
        }
        try store.open(change.old) { container, context in
            #expect(container.migrationReport.versions.isEmpty)
            try #expect(store.outcome(context).count == change.objects.count)
        }
    }

    @Test func `S66: names are followed over five versions, one at a time and all at once`() throws {
        let names = ["a", "b", "c", "d", "e"]
        let versions = names.enumerated().map { place, name in
            Schema(
                SchemaChange.entity(
                    "E\(place)", SchemaChange.value(name, Int.self, was: "a"), was: "E0"),
                version: Schema.Version(place + 1, 0, 0))
        }
        for start in versions.indices.dropLast() {
            let ways: [[Schema]] = [Array(versions[(start + 1)...]), [versions[4]]]
            for way in ways {
                let store = try ChangedStore(
                    versions[start], [SchemaChange.Sample("E\(start)", "o", [names[start]: 7])])
                for version in way { try store.open(version) { _, _ in } }
                try store.open(versions[4]) { _, context in try #expect(store.outcome(context) == ["E4 o e=7"]) }
            }
        }
    }

    @Test func `S68: values that are not unique are named, and the store stays as it was`() throws {
        let x = SchemaChange.value("x", Int.self)
        let change = SchemaChange(
            "", [SchemaChange.entity("A", x)], [SchemaChange.entity("A", SchemaChange.value("x", Int.self, .unique))],
            [], [SchemaChange.Sample("A", "a", ["x": 7]), SchemaChange.Sample("A", "b", ["x": 7])], gives: [])
        try expectDuplicate(change)
    }

    @Test(arguments: [1, 2])
    func `a default is no unique value, of however few objects`(count: Int) throws {
        let samples = (0..<count).map { SchemaChange.Sample("A", "a\($0)") }
        let unique = SchemaChange.entity("A", SchemaChange.value("x", Int.self, .unique, default: 0))
        try expectDuplicate(SchemaChange("", [SchemaChange.entity("A")], [unique], [], samples, gives: []))
        let optional = SchemaChange.entity("A", SchemaChange.value("x", Int?.self, .unique))
        try expectDuplicate(SchemaChange("", [optional], [unique], [], samples, gives: []))
    }

    private func expectDuplicate(_ change: SchemaChange) throws {
        let store = try ChangedStore(change)
        #expect(change.new.difference(from: change.old).changes.contains { $0.isCheckedAgainstObjects })
        let error = #expect(throws: MigrationError.self) { try store.open(change.new) { _, _ in } }
        #expect(error?.code == .duplicate)
        #expect(error?.message.contains(" of A ") == true)
        try store.open(change.old) { _, context in
            try #expect(store.outcome(context).count == change.objects.count)
        }
    }
}
