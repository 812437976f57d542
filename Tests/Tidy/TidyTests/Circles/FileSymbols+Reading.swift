import Foundation
import SourceSymbols

extension FileSymbols {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// The executable that reads symbols by the compiler's parser.
    ///
    /// It is a macro target, so it shares swift-syntax with the compiler plugin. A release build has neither.
    private static let reader = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "SymbolReader-tool")

    /// Whether this build has the reader.
    static var canBeRead: Bool { FileManager.default.isExecutableFile(atPath: reader.path) }

    /// Reads the symbols of texts, in a process for each core.
    ///
    /// The unoptimized parser takes 40 ms a file, so a file beside it keeps the symbols of texts that were read before.
    static func read(_ texts: [String]) throws -> [FileSymbols] {
        let known = SymbolCache(of: reader)
        let keys = texts.map(SymbolCache.key)
        let unknown = texts.indices.filter { known.symbols[keys[$0]] == nil }
        let share = max(32, (unknown.count + 1) / ProcessInfo.processInfo.activeProcessorCount)
        let shares = stride(from: 0, to: unknown.count, by: share).map { unknown[$0..<min($0 + share, unknown.count)] }
        let processes = try shares.map { try SymbolProcess(reader, texts: $0.map { texts[$0] }) }
        var symbols = known.symbols
        for (share, process) in zip(shares, processes) {
            for (place, read) in zip(share, try process.symbols()) { symbols[keys[place]] = read }
        }
        if !unknown.isEmpty { known.replace(by: symbols, wanted: Set(keys)) }
        return try keys.map { key in
            guard let found = symbols[key] else { throw Missing(description: "\(reader.path) read too few files") }
            return found
        }
    }
}

/// The symbols of texts that were read before, in a file beside the reader.
private struct SymbolCache {
    private static let countMax = 4_000

    private let file: URL
    let symbols: [String: FileSymbols]

    /// The cache, which is empty if it is older than the reader.
    init(of reader: URL) {
        file = reader.appendingPathExtension("json")
        func date(_ url: URL) -> Date? {
            (try? FileManager.default.attributesOfItem(atPath: url.path))?[.modificationDate] as? Date
        }
        guard let written = date(file), let built = date(reader), written > built,
            let data = try? Data(contentsOf: file)
        else {
            symbols = [:]
            return
        }
        symbols = (try? JSONDecoder().decode([String: FileSymbols].self, from: data)) ?? [:]
    }

    /// Names a text: its size and a 64-bit FNV-1a hash of it.
    static func key(of text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(text.utf8.count)-\(hash)"
    }

    /// Keeps symbols for the next call; of many only the wanted ones.
    func replace(by symbols: [String: FileSymbols], wanted: Set<String>) {
        let kept = symbols.count <= Self.countMax ? symbols : symbols.filter { wanted.contains($0.key) }
        try? JSONEncoder().encode(kept).write(to: file, options: .atomic)
    }
}

/// A running reader.
private struct SymbolProcess {
    private let process = Process()
    private let output = Pipe()

    /// Starts the reader and sends it the texts; it reads all before it prints.
    init(_ reader: URL, texts: [String]) throws {
        process.executableURL = reader
        let input = Pipe()
        process.standardInput = input.fileHandleForReading
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(texts))
        try input.fileHandleForWriting.close()
    }

    func symbols() throws -> [FileSymbols] {
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw FileSymbols.Missing(description: "the reader ended with status \(process.terminationStatus)")
        }
        return try JSONDecoder().decode([FileSymbols].self, from: data)
    }
}
