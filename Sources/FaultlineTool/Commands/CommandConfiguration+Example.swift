import ArgumentParser

extension CommandConfiguration {
    /// The configuration of a command, with an example at the end of its overview.
    init(_ name: String, abstract: String, discussion: String = "", example: String) {
        let example = "Example:\n  \(example)"
        self.init(
            commandName: name, abstract: abstract,
            discussion: discussion.isEmpty ? example : discussion + "\n\n" + example)
    }
}
