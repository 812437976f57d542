import Testing

@Suite struct PersistedPropertyMacroTests {
    @Test func expandsARequiredProperty() {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(3) var name: String\n}")

        #expect(
            expansion.text == """
                class A {
                    var name: String {
                        @storageRestrictions(accesses: _$core, initializes: _name)
                        init(initialValue) {
                            _$core.initialize(3, to: initialValue)
                            _name = _SwiftDataNoType()
                        }
                        get {
                            _$core.value(3)
                        }
                        set {
                            _$core.setValue(3, to: newValue)
                        }
                    }

                    @Faultline.Transient private var _name: _SwiftDataNoType
                }
                """)
    }

    /// An optional marker would take a byte of every object.
    @Test(arguments: [
        ("name: Int?", "_name: _SwiftDataNoType = _SwiftDataNoType()"),
        ("name: Int!", "_name: _SwiftDataNoType = _SwiftDataNoType()"),
        ("name: Int = 1", "_name: _SwiftDataNoType = _SwiftDataNoType()"),
        ("name = 1", "_name: _SwiftDataNoType = _SwiftDataNoType()"),
        ("name: Optional<Int>", "_name: _SwiftDataNoType"), ("`default`: Int", "_default: _SwiftDataNoType"),
        ("`two words`: Int", "`_two words`: _SwiftDataNoType"),
    ])
    func marksThePropertyAsInitialized(declaration: String, expected: String) {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(0) var \(declaration)\n}")

        #expect(expansion.lines(containing: "private var") == ["@Faultline.Transient private var \(expected)"])
    }

    @Test func passesTransformedValuesWithoutAskingForCodable() {
        let expansion = Expansion(of: "class A {\n    @_TransformablePersistedProperty(2) var badge: Badge\n}")

        #expect(
            expansion.lines(containing: "(2") == [
                "_$core.initializeTransformable(2, to: initialValue)", "_$core.transformableValue(2)",
                "_$core.setTransformableValue(2, to: newValue)",
            ])
    }

    /// So that an `append` to a relationship does not touch its other members.
    @Test func changesArraysInPlace() {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(4) var members: [B] = []\n}")

        #expect(
            expansion.text.contains(
                """
                        _modify {
                            var value: [B] = _$core.beginChangeInPlace(4)
                            defer {
                                _$core.endChangeInPlace(4, &value)
                            }
                            yield &value
                        }
                """))
    }

    @Test(arguments: [
        ("[B]", true), ("[B]?", true), ("Array<B>", true), ("Swift.Array<B>?", true), ("[B: C]", false), ("B?", false),
        ("String", false),
    ])
    func changesOnlyArraysInPlace(type: String, isExpected: Bool) {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(0) var members: \(type)\n}")

        #expect(expansion.text.contains("_modify") == isExpected)
    }

    @Test("A5: accessors of an ephemeral property keep its values beside the object")
    func keepsEphemeralValues() {
        let source = """
            class A {
                @Attribute(.ephemeral) @_PersistedProperty(2) var count: Int = 7
                @Attribute(.ephemeral) @_PersistedProperty(3) var place: Place
            }
            """
        let expansion = Expansion(of: source)

        #expect(
            expansion.lines(containing: "(2") == [
                "_$core.initializeEphemeral(2, to: initialValue)",
                "Faultline._$awakeFromFetch(self); return _$core.ephemeralValue(2, orElse: (7) as Int)",
                "Faultline._$awakeFromFetch(self); return _$core.setEphemeralValue(2, to: newValue)",
            ])
        #expect(expansion.text.contains("_$core.ephemeralValue(3)"))
    }

    @Test func givesConstantsNoSetter() {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(0) let a: Int\n}")

        #expect(expansion.text.contains("_$core.value(0)"))
        #expect(!expansion.text.contains("setValue"))
    }

    @Test(arguments: [
        "var a: Int { 1 }", "lazy var a = 1", "static var a = 1",
    ])
    func leavesOtherPropertiesAlone(declaration: String) {
        let expansion = Expansion(of: "class A {\n    @_PersistedProperty(0) \(declaration)\n}")

        #expect(expansion.text == "class A {\n    \(declaration)\n}")
    }
}
