import Foundation
import SourceSymbols
import SwiftParser
import SwiftSyntax

/// Reads Swift files and prints the names that they declare and use, for the tests of the repository.
///
/// Standard input is a JSON array of texts, standard output a JSON array of `FileSymbols`, one for each.
@main
struct SymbolReader {
    static func main() throws {
        let texts = try JSONDecoder().decode([String].self, from: FileHandle.standardInput.readDataToEndOfFile())
        let symbols = texts.map { text in
            let visitor = SymbolVisitor(viewMode: .sourceAccurate)
            visitor.walk(Parser.parse(source: text))
            return visitor.symbols
        }
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(symbols))
    }
}
