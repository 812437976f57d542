/// Words that make a reader search for the subject of a sentence.
enum Dialect {
    private static let persons: Set<String> = ["nobody", "somebody", "whoever", "whatever", "whichever"]

    /// Words that follow "what" at the start of a clause that replaces a noun.
    private static let afterWhat: Set<String> = [
        "is", "are", "was", "were", "has", "have", "had", "it", "they", "he", "she", "we", "you", "a", "an", "the",
        "can",
        "may", "must", "will", "would", "does", "did",
    ]

    static func persons(in text: String) -> Int {
        var count = 0
        eachWord(of: text) { if persons.contains($0) { count += 1 } }
        return count
    }

    static func whatClauses(in text: String) -> Int {
        var count = 0
        var last = ""
        eachWord(of: text) { word in
            if last == "what", afterWhat.contains(word) { count += 1 }
            last = word
        }
        return count
    }

    /// Calls `body` for each run of ASCII letters, in lower case.
    ///
    /// Line breaks and comment markers separate words.
    private static func eachWord(of text: String, _ body: (String) -> Void) {
        var word: [UInt8] = []
        for byte in text.utf8 {
            let lower = byte | 0x20
            if lower >= UInt8(ascii: "a"), lower <= UInt8(ascii: "z") {
                word.append(lower)
            } else if !word.isEmpty {
                body(String(decoding: word, as: UTF8.self))
                word.removeAll(keepingCapacity: true)
            }
        }
        if !word.isEmpty { body(String(decoding: word, as: UTF8.self)) }
    }
}
