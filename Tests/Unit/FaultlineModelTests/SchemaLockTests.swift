import FaultlineModel
import Testing

@Suite struct SchemaLockTests {
    private func schema(_ major: Int, _ properties: any SchemaProperty..., other: String = "B") -> Schema {
        Schema(
            Schema.Entity("A", subentities: [], properties: properties), Schema.Entity(other),
            version: Schema.Version(major, 0, 0))
    }

    private func number(_ name: String) -> Schema.Attribute { Schema.Attribute(name: name, valueType: Int.self) }

    private func text(_ name: String) -> Schema.Attribute { Schema.Attribute(name: name, valueType: String?.self) }

    private func failure(_ body: () throws -> Void) -> SchemaLockError? {
        do { try body() } catch { return error as? SchemaLockError }
        return nil
    }

    @Test func `every fact of a fingerprint is a line`() throws {
        let entity = Schema.Entity(
            "Person", subentities: [],
            properties: [
                Schema.Attribute(name: "name", options: [.unique], valueType: String.self, hashModifier: "2 b"),
                Schema.Attribute(name: "age", options: [.ephemeral], valueType: Int32?.self, defaultValue: Int32(1)),
                Schema.Relationship(
                    name: "boss", destination: "Person", isToOne: true, deleteRule: .cascade, inverseName: "staff"),
                Schema.Relationship(
                    name: "staff", destination: "Person", isToOne: false, isOptional: false, minimumModelCount: 1,
                    maximumModelCount: 9, inverseName: "boss"),
            ], uniquenessConstraints: [["name", "age"]], indices: [["age"]])
        let schema = Schema(entity, version: Schema.Version(1, 2, 3))
        let lock = try SchemaLock([schema])
        #expect(
            lock.text == """
                faultline schema lock 1

                version 1.2.3 \(schema.fingerprint)
                    entity Person \(entity.fingerprint)
                        age: int32?, transient
                        boss: Person?, inverse staff
                        name: string, modifier "2 b"
                        staff: [Person], inverse boss, least 1, most 9
                        unique age, name
                        unique name

                """)
    }

    @Test func `a written lock is read back`() throws {
        let odd = Schema.Attribute(name: "a \"b\\ entity", valueType: Int.self, hashModifier: "")
        let lock = try SchemaLock(
            [
                schema(2, number("x"), text("y")), schema(3, odd, other: "an \"entity\" of 1"),
                schema(4, other: "Überzug"),
            ],
            dropped: [
                DroppedVersion(
                    Schema.Version(1, 0, 0), fingerprint: "\(Fingerprint(of: "first"))", lastRelease: "2.4 or so")
            ])
        #expect(lock.versions.map(\.lastRelease) == ["2.4 or so", nil, nil, nil])
        #expect(try SchemaLock(text: lock.text) == lock)
        try lock.check(against: SchemaLock(text: lock.text))
    }

    @Test func `a version that changed without a number shows the changes`() throws {
        let old = try SchemaLock([schema(1, number("x"), text("y")), schema(2, number("z"))])
        let new = try SchemaLock([schema(1, number("x"), number("y"), other: "C"), schema(2, number("z"))])
        let error = failure { try new.check(against: old) }
        #expect(error?.code == .differs && error?.version == Schema.Version(1, 0, 0))
        #expect(
            error?.message.hasSuffix(
                """
                :
                  A
                  - y: string?
                  + y: int64
                - B
                + C
                """) == true)
    }

    @Test func `defaults, delete rules, indexes and original names need no new version`() throws {
        let old = try SchemaLock([schema(1, number("x"))])
        let attribute = Schema.Attribute(
            name: "x", originalName: "w", options: [.externalStorage], valueType: Int.self, defaultValue: 5)
        try SchemaLock([schema(1, attribute)]).check(against: old)
    }

    @Test func `versions that are gone, are new, or come back are named`() throws {
        let first = schema(1, number("x"))
        let second = schema(2, number("y"))
        let dropped = DroppedVersion(Schema.Version(1, 0, 0), fingerprint: "\(first.fingerprint)", lastRelease: "7")
        let all = try SchemaLock([first, second])
        let late = try SchemaLock([second], dropped: [dropped])

        #expect(failure { try SchemaLock([second]).check(against: all) }?.message.contains("1.0.0 is gone") == true)
        #expect(
            failure { try all.check(against: SchemaLock([first])) }?.message.contains("2.0.0 is not locked") == true)
        #expect(failure { try all.check(against: late) }?.message.contains("1.0.0 was dropped") == true)
        try late.check(against: all)
        let other = DroppedVersion(Schema.Version(1, 0, 0), fingerprint: "\(Fingerprint(of: ""))", lastRelease: "7")
        #expect(
            failure { try SchemaLock([second], dropped: [other]).check(against: all) }?.message.contains("has changed")
                == true)
    }

    @Test(arguments: ["", " ", "\t"]) func `a dropped version names the release that users are to run`(release: String)
    {
        let dropped = DroppedVersion(
            Schema.Version(1, 0, 0), fingerprint: "\(Fingerprint(of: "first"))", lastRelease: release)
        let error = failure { _ = try SchemaLock([schema(2, number("x"))], dropped: [dropped]) }
        #expect(error?.code == .malformed && error?.version == Schema.Version(1, 0, 0))
    }

    @Test func `versions with one number or one look are refused`() {
        let twins = failure { _ = try SchemaLock([schema(1, number("x")), schema(2, number("x"))]) }
        #expect(twins?.code == .fingerprintTwice && twins?.version == Schema.Version(2, 0, 0))
        let numbers = failure { _ = try SchemaLock([schema(1, number("x")), schema(1, number("y"))]) }
        #expect(numbers?.code == .numberTwice)
        let broken = failure { _ = try SchemaLock([schema(1, number("x\ny"))]) }
        #expect(broken?.code == .malformed)
    }

    @Test func `a line that was lost in a merge is found`() throws {
        let lock = try SchemaLock([schema(2, number("x"), text("y")), schema(3)])
        let lines = lock.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for place in lines.indices where !lines[place].isEmpty {
            let rest = (lines[..<place] + lines[(place + 1)...]).joined(separator: "\n")
            #expect(failure { try lock.check(against: SchemaLock(text: rest)) } != nil, "without line \(place + 1)")
            if lines[place].contains("entity") {
                #expect(failure { _ = try SchemaLock(text: rest) }?.code == .malformed, "without line \(place + 1)")
            }
        }
    }

    @Test func `no byte of a lock can be changed, and none be missing, without being found`() throws {
        let lock = try SchemaLock(
            [schema(2, number("x"), text("y")), schema(3)],
            dropped: [
                DroppedVersion(Schema.Version(1, 0, 0), fingerprint: "\(Fingerprint(of: "first"))", lastRelease: "2")
            ])
        let bytes = Array(lock.text.utf8)
        func isFound(_ bytes: [UInt8]) -> Bool {
            guard let text = String(validating: bytes, as: UTF8.self) else { return true }
            guard let read = try? SchemaLock(text: text) else { return true }
            return read != lock
        }
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                #expect(isFound(changed) || bytes[place] == 0x0A, "byte \(place), bit \(bit)")
            }
            if place + 1 < bytes.count { #expect(isFound(Array(bytes[..<place])), "cut at \(place)") }
        }
        #expect(throws: SchemaLockError.self) { try SchemaLock(text: "") }
        #expect(throws: SchemaLockError.self) { try SchemaLock(text: "faultline schema lock 2\n") }
        let far = "faultline schema lock 1\nversion 99999999999999999999.0.0 \(Fingerprint(of: ""))\n"
        #expect(throws: SchemaLockError.self) { try SchemaLock(text: far) }
    }
}
