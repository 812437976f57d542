import Testing

@Suite struct ModelDiagnosisTests {
    private func diagnostics(_ members: String..., head: String = "@Model final class A") -> [String] {
        Expansion(of: "\(head) {\n" + (members + ["init() {}"]).map { "    \($0)\n" }.joined() + "}").diagnostics
    }

    @Test func acceptsWhatCanBePersisted() {
        #expect(
            diagnostics(
                "var a: Int", "var b = 1", "private(set) var c: Int?", "var d: Int { 1 }", "static let e = 1",
                "lazy var f = 1", "@Transient var g = 1", "@Transient var h: Int?", "@Transient let i = 1",
                "@Transient var j = 1 { didSet {} }", "func k() {}", "deinit {}", "struct L {}"
            ).isEmpty)
    }

    @Test(arguments: [
        ("struct", "a structure"), ("enum", "an enumeration"), ("actor", "an actor"),
    ])
    func refusesWhatIsNotAClass(keyword: String, words: String) {
        let expansion = Expansion(of: "@Model \(keyword) A {\n    init() {}\n}")

        #expect(
            expansion.diagnostics == ["1:1: error: @Model cannot be applied to \(words). Only a class can be a model."])
        #expect(expansion.text == "\(keyword) A {\n    init() {}\n}")
    }

    @Test func refusesGenericClasses() {
        let reason = "an entity has one set of properties."
        #expect(
            diagnostics("var a: Int", head: "@Model class A<T>")
                == ["1:15: error: @Model cannot be applied to a generic class: \(reason)"])
        #expect(!Expansion(of: "@Model class A<T> {\n    var a: Int\n    init() {}\n}").text.contains("Persist"))
        #expect(
            !Expansion(of: "struct B<T> {\n    @Model class A {\n        var a: Int\n        init() {}\n    }\n}").text
                .contains("Persist"))
        #expect(
            Expansion(of: "struct B<T> {\n    @Model class A {\n        var a: Int\n        init() {}\n    }\n}")
                .diagnostics
                == ["2:5: error: @Model cannot be applied to a class in a generic type: \(reason)"])
    }

    @Test(arguments: ["", " /* super.init() */ ", " let text = \"super.init()\" "])
    func requiresThatASubclassCallsItsSuperclass(body: String) {
        let expansion = Expansion(of: "@Submodel class B: A {\n    var b = 1\n    init() {\(body)}\n}")

        #expect(
            expansion.diagnostics == [
                "3:5: error: 'B' inherits from a model, so that its initializers must call one of the superclass: "
                    + "add super.init(...)."
            ])
    }

    @Test func acceptsASubclassThatCallsItsSuperclass() {
        #expect(Expansion(of: "@Submodel class B: A {\n    init() { super.init() }\n}").diagnostics.isEmpty)
        #expect(
            Expansion(of: "@Submodel class B: A {\n    init() { super.init() }\n    convenience init(b: Int) {\n}\n}")
                .diagnostics.isEmpty)
    }

    @Test func refusesAConformanceWrittenOut() {
        #expect(
            diagnostics(head: "@Submodel class A: PersistentModel") == [
                "1:1: error: @Model adds the conformance to PersistentModel by itself. Remove it from the declaration."
            ])
    }

    @Test func requiresAnInitializer() {
        #expect(
            Expansion(of: "@Model class A {\n    var a = 1\n}").diagnostics
                == ["1:14: error: @Model requires an initializer be provided for 'A'."])
        #expect(Expansion(of: "@Model class A {\n    #if DEBUG\n    init() {}\n    #endif\n}").diagnostics.isEmpty)
    }

    @Test func requiresADefaultOfTransientProperties() {
        #expect(
            diagnostics("@Transient var a: Int", "@Transient var b: Int!", "@Transient var c: Optional<Int>") == [
                "2:5: error: @Transient requires the non-optional property 'a' to have a default value.",
                "4:5: error: @Transient requires the non-optional property 'c' to have a default value.",
            ])
    }

    @Test func warnsOfPropertiesThatAreNotPersisted() {
        #expect(
            diagnostics("var (c, d) = (1, 2)") == [
                "2:5: warning: '(c, d)' is not persisted, because it is bound by a pattern. "
                    + "Mark it @Transient to say that this is meant."
            ])
    }

    @Test func warnsOfObserversThatAreNotCalled() {
        let rest =
            "are not called, because its value is persisted. Do their work in a method that sets it, "
            + "or mark the property @Transient."
        #expect(
            diagnostics("var a = 1 { didSet {} }", "var b: Int { willSet {} }") == [
                "2:15: warning: The observers of 'a' \(rest)", "3:16: warning: The observers of 'b' \(rest)",
            ])
    }

    @Test func refusesWhatCannotBePersisted() {
        #expect(
            diagnostics("let a: Int", "var b, c: Int", "weak var d: A?", "unowned var e: A") == [
                "2:5: error: 'a' cannot be persisted, because it is a constant. Declare it with 'var', or "
                    + "'private(set) var' if it should not be changed from outside, or mark it @Transient.",
                "3:5: error: 'b, c' cannot be persisted from one declaration. Declare each property by itself.",
                "4:5: error: 'd' cannot be persisted, because it is weak or unowned. Remove that, since a relationship "
                    + "does not keep objects in memory, or mark the property @Transient.",
                "5:5: error: 'e' cannot be persisted, because it is weak or unowned. Remove that, since a relationship "
                    + "does not keep objects in memory, or mark the property @Transient.",
            ])
    }

    @Test func refusesConditionsItCannotSettle() {
        let expansion = Expansion(
            of: "@Model class A {\n    #if DEBUG\n    var a = 1\n    #endif\n    init() {}\n}")

        #expect(expansion.diagnostics == ["2:5: error: Properties of a model cannot be declared conditionally."])
    }

    @Test func givesMembersDespiteMistakesInProperties() {
        #expect(Expansion(of: "@Model class A {\n    let a: Int\n    init() {}\n}").text.contains("var _$core"))
    }
}
