public import Foundation

/// Tells the changes of one context from those of others: its identity and its author.
///
///     if request.editingState.id == context.editingState.id { skip() }
public struct EditingState: Identifiable, Sendable {
    /// The identity of the context: unique in all processes, and the same as long as the context lives.
    public let id: UUID
    /// The author of the context at the time of the request.
    public let author: String?

    package init(id: UUID, author: String?) {
        self.id = id
        self.author = author
    }
}

extension ModelContext {
    /// The identity of the context and its author, for code that sees the changes of several contexts.
    ///
    /// - Complexity: O(1).
    public var editingState: EditingState {
        EditingState(id: core.history.editorID, author: core.history.author)
    }
}
