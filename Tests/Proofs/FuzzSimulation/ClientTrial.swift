import FaultlineObjects
import Foundation

/// Decodes bytes as the JSON of a value that a service gives its clients and takes back: an identifier, a cursor, a
/// history token.
///
/// Decoding refuses it by `DecodingError`, or a context answers by its rules.
enum ClientTrial {
    /// The orders that cursors are tried with.
    private static let requests = [
        FetchRequest(entityName: "Thing"),
        FetchRequest(entityName: "Thing", sortedBy: [.ascending("rank"), .ascending("name")]),
        FetchRequest(entityName: "Thing", filter: Filter.key("name") >= "n2", sortedBy: [.descending("weight")]),
        FetchRequest(entityName: "Thing", sortedBy: [.descending("name"), .ascending("rank")]),
    ]

    static func seeds(_ target: FuzzTarget) throws -> [[UInt8]] {
        let context = FuzzObjects.shared.context()
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        switch target {
        case .identifier:
            let unsaved = try context.insertNewObject(forEntityName: "Thing").objectID
            let stored = try context.fetchIdentifiers(FetchRequest(entityName: "Thing"))
            let identifiers = stored.prefix(3) + [unsaved]
            return try identifiers.map { [UInt8](try encoder.encode($0)) } + identifiers.map { Array("\($0)".utf8) }
        case .cursor:
            return try requests.compactMap { try context.fetchPage($0, size: 3).cursor }.map {
                [UInt8](try encoder.encode($0))
            }
        default:
            let transactions: [DefaultHistoryTransaction] = try context.fetchHistory(HistoryDescriptor())
            return try transactions.map { [UInt8](try encoder.encode($0.token)) } + [
                Array("\"00112233445566778899aabbccddeeff\"".utf8)
            ]
        }
    }

    static func run(_ bytes: [UInt8], as target: FuzzTarget) throws {
        switch target {
        case .identifier:
            if let identifier: PersistentIdentifier = try decoded(bytes) { try use(identifier) }
            try read(String(decoding: bytes, as: UTF8.self))
        case .cursor: if let cursor: FetchCursor = try decoded(bytes) { try use(cursor) }
        default:
            if let token: DefaultHistoryToken = try decoded(bytes) { try use(token) }
            if let transaction: TransactionIdentifier = try decoded(bytes) {
                _ = try FuzzObjects.shared.landed(transaction)
            }
        }
    }

    /// The value, nil if it is refused; an accepted one is the same after it is encoded and decoded again.
    private static func decoded<T: Codable & Equatable>(_ bytes: [UInt8]) throws -> T? {
        let value: T
        do { value = try JSONDecoder().decode(T.self, from: Data(bytes)) } catch is DecodingError { return nil }
        let again = try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value))
        guard again == value else { throw FuzzViolation(description: "a \(T.self) is another when decoded again") }
        return value
    }

    /// Reads the text of an identifier: an accepted one has no other text.
    private static func read(_ text: String) throws {
        guard let identifier = PersistentIdentifier(text) else { return }
        guard identifier.description == text else {
            throw FuzzViolation(description: "\(identifier) has another text: \(text)")
        }
        try use(identifier)
    }

    private static func use(_ identifier: PersistentIdentifier) throws {
        let context = FuzzObjects.shared.context()
        let isThere = try context.existing(identifier) != nil
        let registered: ManagedObject? = context.registeredModel(for: identifier)
        guard isThere == false || identifier.number <= UInt64(FuzzObjects.thingCount), registered == nil else {
            throw FuzzViolation(description: "there is an object for \(identifier)")
        }
        let request = FetchRequest(entityName: "Thing", filter: .objectID(in: [identifier]))
        guard try context.count(for: request) == (isThere ? 1 : 0) else {
            throw FuzzViolation(description: "a fetch and existing(_:) disagree about \(identifier)")
        }
        let object = context.model(for: identifier)
        guard object.isDeleted != isThere, object.persistentModelID == identifier || !isThere else {
            throw FuzzViolation(description: "model(for:) and existing(_:) disagree about \(identifier)")
        }
        guard let thing = object as? ManagedObject else { return }
        thing["name"] = "changed"
        guard isThere == thing.hasChanges else {
            throw FuzzViolation(description: "an absent object was changed: \(identifier)")
        }
    }

    private static func use(_ cursor: FetchCursor) throws {
        let context = FuzzObjects.shared.context()
        for request in requests {
            do {
                let page = try context.fetchPage(request, after: cursor, size: 5)
                guard page.objects.count <= 5, page.isLast == (page.objects.count < 5) else {
                    throw FuzzViolation(description: "a page of 5 has \(page.objects.count) objects")
                }
            } catch SwiftDataError.unsupportedSortDescriptor {}
        }
    }

    private static func use(_ token: DefaultHistoryToken) throws {
        let context = FuzzObjects.shared.context()
        do {
            let found: [DefaultHistoryTransaction] = try context.fetchHistory(
                HistoryDescriptor(predicate: #Predicate<DefaultHistoryTransaction> { $0.token > token }))
            guard found.allSatisfy({ token < $0.token }) else {
                throw FuzzViolation(description: "transactions before \(token) were found behind it")
            }
        } catch SwiftDataError.historyTokenExpired {}
    }
}
