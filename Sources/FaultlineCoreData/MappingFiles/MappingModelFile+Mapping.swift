public import Foundation

extension MappingModelFile {
    /// The way in which one old entity becomes a new one.
    public struct Mapping: Hashable, Sendable {
        /// The kinds of mappings, with their numbers in compiled files.
        public enum Kind: Int, Sendable, CaseIterable {
            /// The file leaves it open: it follows from the entities and the policy.
            case undefined
            case custom
            case add
            case remove
            case copy
            case transform
        }

        /// The name; `BookToBook` if the file has none.
        public var name: String
        /// The kind, as the file has it.
        public var kind = Kind.undefined
        /// The entity of the old version; nil for new objects.
        public var sourceEntityName: String?
        /// The entity of the new version; nil if its objects are removed.
        public var destinationEntityName: String?
        /// The hash that Core Data gave to the old entity; nil in files that Xcode edits.
        public var sourceEntityHash: Data?
        /// The hash that Core Data gave to the new entity; nil in files that Xcode edits.
        public var destinationEntityHash: Data?
        /// The class of the policy, with its module if the file has it.
        public var policyName: String?
        /// The expression that fetches the old objects; nil if it fetches all that satisfy the filter.
        public var sourceExpression: MappingExpression?
        /// The condition on old objects; nil for all.
        public var filter: MappingPredicate?
        /// The attributes of a new object.
        public var attributes: [Property] = []
        /// The relationships of a new object.
        public var relationships: [Property] = []
        /// Texts by keys, for the policy.
        public var userInfo: [String: String] = [:]
        /// The line of the file, from 1; nil for compiled files.
        public var line: Int?
    }

    /// The way in which a property of a new object gets its value.
    public struct Property: Hashable, Sendable {
        /// The property of the new entity.
        public var name: String
        /// The value; nil if the property keeps its default, or if the file leaves the value open.
        public var expression: MappingExpression?
        /// Whether the file leaves the value open: then it is that of the old property with the same name.
        public var isGenerated = false
        /// Texts by keys.
        public var userInfo: [String: String] = [:]
        /// The line of the file, from 1; nil for compiled files.
        public var line: Int?
    }
}

extension MappingModelFile.Mapping {
    /// The name that Core Data's editor gives to a mapping between entities.
    static func defaultName(from source: String?, to destination: String?) -> String {
        [source, destination].compactMap { $0 }.joined(separator: "To")
    }

    /// The properties, attributes first.
    var properties: [MappingModelFile.Property] { attributes + relationships }
}
