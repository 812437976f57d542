/// A place of the input that was skipped, and why.
package struct SkippedInput: Sendable, Equatable, CustomStringConvertible {
    package let file: String
    /// The number of the line, counted from 1; 0 where the input has no lines.
    package let line: Int
    package let reason: String

    package var description: String { line > 0 ? "\(file):\(line): \(reason)" : "\(file): \(reason)" }
}

/// The problems met in the source: all skipped places are counted, the first ones are named.
package struct ImportReport: Sendable, Equatable {
    /// Stanzas read, broken ones among them.
    package private(set) var stanzaCount = 0
    /// Stanzas skipped because they name no usable package, version or architecture.
    package private(set) var brokenStanzaCount = 0
    /// Fields skipped, wholly or in the part that could not be read, in stanzas that were kept.
    package private(set) var brokenFieldCount = 0
    /// Stanzas of packages that the source knows without having a version: nothing to import.
    package private(set) var emptyStanzaCount = 0
    /// Stanzas that gave way to another one with the same name and architecture.
    package private(set) var supersededStanzaCount = 0
    /// Files and folders that could not be read, and parts of the source that were not there.
    package private(set) var unreadableCount = 0
    /// The first `skippedMax` places.
    package private(set) var skipped: [SkippedInput] = []

    /// How many places are kept with their reason; the counts continue.
    package static let skippedMax = 100

    package init() {}

    mutating func countStanza() { stanzaCount += 1 }
    mutating func countEmptyStanza() { emptyStanzaCount += 1 }
    mutating func countSupersededStanza() { supersededStanzaCount += 1 }

    mutating func skipStanza(_ file: String, line: Int, _ reason: @autoclosure () -> String) {
        brokenStanzaCount += 1
        note(file, line, reason())
    }

    mutating func skipField(_ file: String, line: Int, _ reason: @autoclosure () -> String) {
        brokenFieldCount += 1
        note(file, line, reason())
    }

    mutating func skipUnreadable(_ path: String, _ reason: @autoclosure () -> String) {
        unreadableCount += 1
        note(path, 0, reason())
    }

    private mutating func note(_ file: String, _ line: Int, _ reason: @autoclosure () -> String) {
        guard skipped.count < Self.skippedMax else { return }
        skipped.append(SkippedInput(file: file, line: line, reason: reason()))
    }
}
