import Testing

@Suite struct ModelMacroTests {
    @Test("Designated initializers are not inlined: the compiler does not see that relationships lead to the object")
    func initializersAreNotInlined() {
        func text(_ initializer: String) -> String {
            Expansion(of: "@Model final class A {\n    var a: Int\n    \(initializer)\n}").text
        }
        #expect(text("init(a: Int) {}").contains("\n    @inline(never)\n    init(a: Int)"))
        #expect(text("@inlinable public init?() {}").contains("\n    @inlinable @inline(never) public init?()"))
        #expect(text("convenience init(b: Int) {}").contains("\n    convenience init(b: Int)"))
        #expect(text("@inline(never) init(b: Int) {}").contains("\n    @inline(never) init(b: Int)"))
        // The compiler refuses both.
        #expect(text("@inline(__always) init() {}").contains("\n    @inline(__always) @inline(never) init()"))
    }

    private static let finalClass = #"""
        @Model final class Employee {
            var name: String
            var level: Int = 1
            var department: Department?
            @Transient var cache = 0
            #Unique<Employee>([\.name])
            init() {}
        }
        """#

    private static let expandedFinalClass = #"""
        final class Employee {
            @Faultline._PersistedProperty(0)
            var name: String
            @Faultline._PersistedProperty(1)
            var level: Int = 1
            @Faultline._PersistedProperty(2)
            var department: Department?
            var cache = 0
            @inline(never)
            init() {}

            nonisolated struct _SwiftDataNoType {
            }

            static let _$modelType = Faultline.ModelType(Employee.self)

            @Faultline.Transient @exclusivity(unchecked) private var _$core = Faultline.ModelCore(Employee._$modelType)

            func _$coreAddress() -> UnsafeMutablePointer<Faultline.ModelCore> {
                withUnsafeMutablePointer(to: &_$core) {
                    $0
                }
            }

            init(_$fault token: Faultline.FaultToken) {
                _name = _SwiftDataNoType()
            }

            @inline(never)
            init(backingData: any Faultline.BackingData<Employee>) {
                _name = _SwiftDataNoType()
                _$core.adopt(backingData)
            }

            var persistentBackingData: any Faultline.BackingData<Employee> {
                get {
                    _$core.backingData(of: self)
                }
                set {
                    _$core.adopt(newValue)
                }
            }

            static var schemaMetadata: [Faultline.Schema.PropertyMetadata] {
                [
                    Faultline.Schema.PropertyMetadata(name: "name", keypath: \Employee.name, defaultValue: nil, metadata: nil),
                    Faultline.Schema.PropertyMetadata(name: "level", keypath: \Employee.level, defaultValue: (1) as Int, metadata: nil),
                    Faultline.Schema.PropertyMetadata(name: "department", keypath: \Employee.department, defaultValue: nil, metadata: nil),
                    Faultline.Schema.PropertyMetadata(name: "Faultline.Schema.Unique", keypath: \Faultline.Schema.encodingVersion, defaultValue: nil, metadata: Faultline.Schema.Unique<Employee>([\.name])),
                ]
            }
        }

        extension Employee: nonisolated Faultline.PersistentModel {
        }

        extension Employee: nonisolated Faultline.Observable {
        }

        @available(*, unavailable, message: "Models cannot cross actors: pass the persistentModelID, or use a ModelActor.")
        extension Employee: Sendable {
        }
        """#

    @Test func expandsAFinalClass() {
        let expansion = Expansion(of: Self.finalClass)
        #expect(expansion.text == Self.expandedFinalClass)
        #expect(expansion.diagnostics.isEmpty)
    }

    @Test(arguments: [
        ("public ", "public ", "public "), ("open ", "public ", "open "), ("package ", "package ", "package "),
        ("", "", ""), ("private ", "", ""),
    ])
    func givesMembersTheAccessTheyNeed(declared: String, expected: String, overridable: String) {
        let text = Expansion(of: "@Model \(declared)class A {\n    var x: Int\n    init() {}\n}").text

        for member in [
            "required init(_$fault", "required init(backingData", "var persistentBackingData", "typealias _$Root = A",
            "static func _$fields<_$Heir: A>(of type: _$Heir.Type)",
        ] {
            #expect(text.contains("\n    \(expected)\(member)"), "\(member)")
        }
        for member in ["func _$coreAddress()", "class var schemaMetadata"] {
            #expect(text.contains("\n    \(overridable)\(member)"), "\(member)")
        }
        #expect(text.contains("\n    nonisolated \(overridable)class var _$modelType: Faultline.ModelType {"))
        #expect(text.contains("\n    private static let _$ownType = Faultline.ModelType(A.self)"))
        #expect(text.contains("\n    @Faultline.Transient @exclusivity(unchecked) private var _$core"))
    }

    @Test func expandsAClassWithoutProperties() {
        let text = Expansion(of: "@Model final class A {\n    init() {}\n}").text

        #expect(text.contains("var schemaMetadata: [Faultline.Schema.PropertyMetadata] {\n        []\n    }"))
        #expect(!text.contains("= _SwiftDataNoType()"))
    }

    @Test func numbersPersistedPropertiesInSourceOrder() {
        let source = """
            @Model final class A {
                var a: Int
                static var shared = 1
                class var other: Int { 1 }
                var computed: Int { a }
                var accessed: Int { get { a } set { a = newValue } }
                lazy var slow = 1
                @Transient var cache: Int?
                @Faultline.Transient let fixed = 1
                private(set) var b = 2
                @Attribute(.unique) var c: Int
                init() {}
            }
            """

        #expect(
            Expansion(of: source).lines(containing: "_PersistedProperty(") == [
                "@Faultline._PersistedProperty(0)", "@Faultline._PersistedProperty(1)",
                "@Faultline._PersistedProperty(2) var c: Int",
            ])
        let metadata = Expansion(of: source).lines(containing: "PropertyMetadata(name: ")
        #expect(metadata.map { $0.dropFirst(41).prefix(1) } == ["a", "b", "c"])
        #expect(Expansion(of: source).diagnostics.isEmpty)
    }

    @Test func usesATransformerWhereOneIsGiven() {
        let source = """
            @Model final class A {
                @Attribute(.externalStorage, .transformable(by: T.self)) var a: Opaque
                @Attribute(.transformable(by: "T")) var b: Opaque
                @Attribute(Schema.Attribute.Option.transformable(by: "T")) var c: Opaque
                @Attribute(.externalStorage) var d: Data
                init() {}
            }
            """

        #expect(
            Expansion(of: source).lines(containing: "PersistedProperty(") == [
                "@Faultline._TransformablePersistedProperty(0) var a: Opaque",
                "@Faultline._TransformablePersistedProperty(1) var b: Opaque",
                "@Faultline._TransformablePersistedProperty(2) var c: Opaque",
                "@Faultline._PersistedProperty(3) var d: Data",
            ])
    }

    @Test(arguments: [
        ("var a = 1", "1"), ("var a: Int", "nil"), ("var a: Int?", "nil"), ("var a: Int? = nil", "(nil) as Int?"),
        ("var a: Int! = 2", "(2) as Int?"), ("var a: Level = .low // the least", "(.low) as Level"),
        ("var a: [B] = []", "([]) as [B]"), ("var a: Date = .now", "(.now) as Date"),
        ("var a: Int = 1 + 2", "(1 + 2) as Int"), ("var a: Int = b ? 1 : 2", "(b ? 1 : 2) as Int"),
        ("var a: A.B = A.B()", "(A.B()) as A.B"),
    ])
    func writesDefaultValuesWithTheirType(declaration: String, expected: String) {
        let source = "@Model final class C {\n    \(declaration)\n    init() {}\n}"

        #expect(
            Expansion(of: source).lines(containing: "PropertyMetadata(") == [
                #"Faultline.Schema.PropertyMetadata(name: "a", keypath: \C.a, defaultValue: \#(expected), metadata: nil),"#
            ])
    }

    @Test(arguments: [
        ("@Attribute", "Attribute()"), ("@Attribute()", "Attribute()"), ("@Attribute(.unique)", "Attribute(.unique)"),
        ("@Faultline.Attribute(.unique, originalName: \"b\")", "Attribute(.unique, originalName: \"b\")"),
        (#"@Relationship(deleteRule: .cascade, inverse: \B.a)"#, #"Relationship(deleteRule: .cascade, inverse: \B.a)"#),
        ("@Relationship(inverse: nil)", "Relationship(inverse: nil)"),
        ("@Attribute(.unique) @Relationship", "Relationship()"),
    ])
    func repeatsTheArgumentsOfAttributes(attribute: String, expected: String) {
        let source = "@Model final class C {\n    \(attribute) var a: Int\n    init() {}\n}"

        #expect(
            Expansion(of: source).lines(containing: "PropertyMetadata(") == [
                #"Faultline.Schema.PropertyMetadata(name: "a", keypath: \C.a, "#
                    + "defaultValue: nil, metadata: Faultline.Schema.\(expected)),"
            ])
    }

    @Test func keepsBackTicksWhereTheyAreNeeded() {
        let source = "@Model final class C {\n    var `default`: Int\n    var `two words`: Int\n    init() {}\n}"

        #expect(
            Expansion(of: source).lines(containing: "PropertyMetadata(") == [
                #"Faultline.Schema.PropertyMetadata(name: "default", keypath: \C.`default`, defaultValue: nil, metadata: nil),"#,
                #"Faultline.Schema.PropertyMetadata(name: "two words", keypath: \C.`two words`, defaultValue: nil, metadata: nil),"#,
            ])
        #expect(
            Expansion(of: source).lines(containing: "= _SwiftDataNoType()").prefix(2) == [
                "_default = _SwiftDataNoType()", "`_two words` = _SwiftDataNoType()",
            ])
    }

    @Test func persistsConstantsBeforeSwift6() {
        let source = "@Model final class C {\n    let a: Int\n    var b: Int\n    init() {}\n}"
        let old = Expansion(of: source, languageMode: 5)
        let new = Expansion(of: source, languageMode: 6)

        #expect(old.lines(containing: "_PersistedProperty(").count == 2)
        #expect(old.lines(containing: "PropertyMetadata(name: ").count == 2)
        #expect(old.diagnostics.isEmpty)
        #expect(new.lines(containing: "_PersistedProperty(").count == 1)
        #expect(new.diagnostics.count == 1)
    }

    @Test func readsOnlyTheConditionsThatHold() {
        let source = """
            @Model final class C {
                #if LARGE
                var a: Int
                #else
                var b: Int
                #endif
                #if !LARGE
                init() {}
                #else
                var c: Int
                init() {}
                #endif
            }
            """
        let expansion = Expansion(of: source, languageMode: 6)

        #expect(
            expansion.lines(containing: "PropertyMetadata(name: ").map { $0.dropFirst(41).prefix(1) } == ["a", "c"])
        #expect(expansion.diagnostics.isEmpty)
    }

    @Test func addsOnlyTheConformancesThatAreMissing() {
        let expansion = Expansion(of: "@ObservableModel final class A: Observable {\n    init() {}\n}")

        #expect(
            expansion.lines(containing: "extension ") == [
                "extension A: nonisolated Faultline.PersistentModel {", "extension A: Sendable {",
            ])
    }

    @Test func putsIndexesBeforeConstraints() {
        let source = #"""
            @Model final class C {
                #Unique<C>([\.a], [\.a, \.b])
                var a: Int
                #Index([\C.a])
                var b: Int
                #Index<C>(.binary([\.b]), .rtree([\.a]))
                init() {}
            }
            """#

        #expect(
            Expansion(of: source).lines(containing: "encodingVersion") == [
                #"Faultline.Schema.PropertyMetadata(name: "Faultline.Schema.Index", keypath: \Faultline.Schema.encodingVersion, defaultValue: nil, metadata: Faultline.Schema.Index<C>([\C.a])),"#,
                #"Faultline.Schema.PropertyMetadata(name: "Faultline.Schema.Index", keypath: \Faultline.Schema.encodingVersion, defaultValue: nil, metadata: Faultline.Schema.Index<C>(.binary([\.b]), .rtree([\.a]))),"#,
                #"Faultline.Schema.PropertyMetadata(name: "Faultline.Schema.Unique", keypath: \Faultline.Schema.encodingVersion, defaultValue: nil, metadata: Faultline.Schema.Unique<C>([\.a], [\.a, \.b])),"#,
            ])
    }

    @Test func extendsANestedClassByItsFullName() {
        let source = "enum SchemaV1 {\n    @Model final class Item {\n        var a: Int\n        init() {}\n    }\n}"

        #expect(
            Expansion(of: source).lines(containing: "extension ") == [
                "extension SchemaV1.Item: nonisolated Faultline.PersistentModel {",
                "extension SchemaV1.Item: nonisolated Faultline.Observable {", "extension SchemaV1.Item: Sendable {",
            ])
        #expect(
            Expansion(of: source).lines(containing: "_$modelType =") == [
                "static let _$modelType = Faultline.ModelType(Item.self)"
            ])
    }

    @Test(arguments: ["", "()", "(originalName: nil)", "(originalName: \"Article\")"])
    func tellsTheFormerNameOfTheClass(_ arguments: String) {
        let source = "@Model\(arguments) final class Item {\n    var a: Int\n    init() {}\n}"
        let name = arguments.dropFirst().dropLast()
        #expect(
            Expansion(of: source).lines(containing: "_$modelType =") == [
                "static let _$modelType = Faultline.ModelType(Item.self\(name.isEmpty ? "" : ", \(name)"))"
            ])
    }
}
