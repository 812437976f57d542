import Faultline
import Testing

@Suite(.timeLimit(.minutes(2))) struct EditingStateTests {
    @Test func `a context has one identity, and its author`() throws {
        let store = try TestStore(Folder.self)
        let (context, other) = (store.context(), store.context())
        let state: EditingState = context.editingState
        #expect(state.id == context.editingState.id && state.author == nil)
        #expect(state.id != other.editingState.id)
        context.author = "import"
        #expect(context.editingState.author == "import" && context.editingState.id == state.id)
        context.insert(Folder("f"))
        try context.save()
        #expect(context.editingState.id == state.id)
    }

    @Test func `calls of perform have identities of their own`() async throws {
        let store = try TestStore(Folder.self)
        let first = try await store.container.perform { $0.editingState.id }
        let second = try await store.container.perform { $0.editingState.id }
        #expect(first != second)
    }

    @Test func `errors of data stores can be told apart`() {
        let all: Set<DataStoreError> = [
            .unsupportedFeature, .preferInMemoryFilter, .preferInMemorySort, .invalidPredicate,
        ]
        #expect(all.count == 4)
    }
}
