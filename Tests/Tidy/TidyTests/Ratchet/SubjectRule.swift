/// A rule that the subject of a commit has at most 72 characters.
struct SubjectRule {
    static let characterCountMax = 72
    static let listPath = "Tests/Ratchet/subjects.txt"

    /// Compares subjects with the limit.
    ///
    /// `known` contains longer ones that are older than the rule.
    func violations(in subjects: [(commit: String, subject: String)], known: Set<String>) -> [Violation] {
        let isLong = { (subject: String) in subject.count > Self.characterCountMax }
        let long = subjects.filter { isLong($0.subject) && !known.contains($0.subject) }.map { commit, subject in
            Violation(
                path: commit,
                line: 0,
                message: """
                    its subject has \(subject.count) characters, more than \(Self.characterCountMax): \(subject)
                    Shorten it before it lands (git commit --amend, git rebase -i); once it is on main, add it to \
                    \(Self.listPath)
                    """
            )
        }
        let written = Set(subjects.map(\.subject))
        let stale = known.filter { !written.contains($0) || !isLong($0) }.sorted().map {
            Violation(path: Self.listPath, line: 0, message: "no commit has this subject: delete the line: \($0)")
        }
        return long + stale
    }
}
