import Faultline

/// The entity `Magazine` of the model Publications.
@Model(originalName: "Periodical")
final class Magazine: Serial {
    @Attribute(originalName: "chief")
    var editor: String

    @Attribute(.externalStorage)
    var cover: Data?

    @Attribute(.ephemeral)
    var draft: String?

    var tags: [Label] = []

    init(title: String, frequency: Int32, editor: String) {
        self.editor = editor
        super.init(title: title, frequency: frequency)
    }
}
