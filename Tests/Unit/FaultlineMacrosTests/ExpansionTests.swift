import Testing

@Suite struct ExpansionTests {
    @Test func leavesTextWithoutMacrosAsItIs() {
        let source = """
            import Foundation

            // A bracket in a comment: {
            @MainActor @available(*, deprecated, message: "an (old) class") final class A {
                let text = "} and ( and //"

                class var other: Int { 1 }
                #if LARGE
                @Transient var a = 1
                #endif
                func run(_ values: [Int]) {
                    if values.isEmpty { return }
                    print(values)
                }
            }
            """
        let expansion = Expansion(of: source, languageMode: 6)

        #expect(expansion.text == source)
        #expect(expansion.diagnostics.isEmpty)
    }

    @Test func expandsTheMembersOfNestedTypes() {
        let source = """
            struct A {
                final class B {
                    @_PersistedProperty(1) let c: Int
                }
            }
            """

        #expect(
            Expansion(of: source).text == """
                struct A {
                    final class B {
                        let c: Int {
                            @storageRestrictions(accesses: _$core, initializes: _c)
                            init(initialValue) {
                                _$core.initialize(1, to: initialValue)
                                _c = _SwiftDataNoType()
                            }
                            get {
                                _$core.value(1)
                            }
                        }

                        @Faultline.Transient private var _c: _SwiftDataNoType
                    }
                }
                """)
    }
}
