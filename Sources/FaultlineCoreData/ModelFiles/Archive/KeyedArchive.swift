internal import Foundation

/// The objects of a keyed archive: a property list whose dictionaries refer to each other by numbers.
struct KeyedArchive {
    /// The only version of the format.
    private static let version: Int64 = 100_000

    private let list: BinaryPropertyList
    private let objects: [Int]
    let budget: ReadingBudget
    let path: String

    init(_ bytes: Data, path: String) throws(ModelFileError) {
        try self.init(BinaryPropertyList(bytes, path: path), path: path, budget: ReadingBudget())
    }

    /// Reads one of several archives inside of a file, which share a budget.
    init(_ bytes: Data, path: String, sharing budget: ReadingBudget) throws(ModelFileError) {
        let list = try BinaryPropertyList(bytes, path: path)
        // Values may share bytes of the file.
        _ = budget.take(list.contentSize / 16)
        try self.init(list, path: path, budget: budget)
    }

    private init(_ list: BinaryPropertyList, path: String, budget: ReadingBudget) throws(ModelFileError) {
        self.list = list
        self.path = path
        self.budget = budget
        guard case .dictionary(let top) = list[list.root], let names = top["$objects"], let version = top["$version"],
            case .list(let objects) = list[names], case .integer(let number) = list[version],
            top["$top"] != nil
        else {
            throw ModelFileError(
                .foreign, path, "The property list is no keyed archive, as compiled models are. Give a .mom or a .cdm.")
        }
        guard number <= Self.version else {
            throw ModelFileError(
                .newer, path, "The archive has the version \(number); \(Self.version) is the newest known one.")
        }
        self.objects = objects
    }

    /// The outermost object.
    func root() throws(ModelFileError) -> ArchivedObject {
        guard case .dictionary(let top) = list[list.root], let position = top["$top"],
            case .dictionary(let names) = list[position], let root = names["root"], let object = object(at: root)
        else {
            throw ModelFileError(.malformed, path, "The archive has no outermost object. Copy the file again.")
        }
        return object
    }

    func value(at position: Int) -> BinaryPropertyList.Value { list[position] }

    /// The object at a position, after the reference if it is one; nil for the null of archives.
    func object(at position: Int) -> ArchivedObject? {
        guard case .reference(let number) = list[position] else {
            return ArchivedObject(archive: self, position: position)
        }
        // The first object stands for null.
        guard number > 0, objects.indices.contains(number) else { return nil }
        return ArchivedObject(archive: self, position: objects[number])
    }
}
