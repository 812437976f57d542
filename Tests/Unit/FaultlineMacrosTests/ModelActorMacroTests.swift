import Testing

@Suite struct ModelActorMacroTests {
    @Test func expandsAnActor() {
        let expansion = Expansion(of: "@ModelActor actor Worker {\n    var count = 0\n}")

        #expect(
            expansion.text == """
                actor Worker {
                    var count = 0

                    nonisolated let modelExecutor: any Faultline.ModelExecutor

                    nonisolated let modelContainer: Faultline.ModelContainer

                    init(modelContainer: Faultline.ModelContainer) {
                        let modelContext = Faultline.ModelContext(modelContainer)
                        self.modelExecutor = Faultline.DefaultSerialModelExecutor(modelContext: modelContext)
                        self.modelContainer = modelContainer
                    }
                }

                extension Worker: Faultline.ModelActor {
                }
                """)
    }

    @Test func givesMembersTheAccessTheyNeed() {
        let text = Expansion(of: "@ModelActor public actor Worker {\n}").text

        #expect(text.contains("public nonisolated let modelExecutor"))
        #expect(text.contains("public nonisolated let modelContainer"))
        #expect(text.contains("public init(modelContainer"))
    }

    @Test(arguments: [
        ("var count: Int", false), ("let count: Int", false), ("let count: Int?", false), ("var count: Int?", true),
        ("var count: Int { 1 }", true), ("static let count = 1", true), ("let a = 1", true),
        ("init(modelContainer: ModelContainer) {}", false),
        ("init(modelContainer: ModelContainer, count: Int) {}", true),
        ("init(count: Int) {}", true),
    ])
    func addsTheInitializerWhereItWouldCompile(member: String, isAdded: Bool) {
        let text = Expansion(of: "@ModelActor actor Worker {\n    \(member)\n}").text

        #expect(text.contains("self.modelContainer = modelContainer") == isAdded)
    }

    @Test(arguments: ["class", "struct", "enum"])
    func refusesWhatIsNotAnActor(keyword: String) {
        let expansion = Expansion(of: "@ModelActor \(keyword) Worker {\n}")

        #expect(expansion.diagnostics == ["1:1: error: @ModelActor can be applied to an actor only."])
        #expect(expansion.text == "\(keyword) Worker {\n}")
    }
}
