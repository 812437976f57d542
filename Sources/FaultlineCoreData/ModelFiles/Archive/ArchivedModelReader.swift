internal import FaultlineModel
internal import Foundation

/// Turns the objects of a compiled model into a model.
///
/// A compiled model is a keyed archive of an `NSManagedObjectModel`. Classes and fields that it does not know become
/// findings.
struct ArchivedModelReader {
    private let archive: KeyedArchive
    var findings: [ModelFinding] = []

    init(_ bytes: Data, path: String) throws(ModelFileError) {
        archive = try KeyedArchive(bytes, path: path)
    }

    mutating func content() throws(ModelFileError) -> ModelContent {
        let root = try archive.root()
        guard root.isKind(of: "NSManagedObjectModel") else {
            throw ModelFileError(
                .foreign, archive.path,
                "The archive has an object of the class \(root.className ?? "none"), where a model has NSManagedObjectModel."
            )
        }
        guard let entities = root["NSEntities"]?.dictionary else {
            throw ModelFileError(.malformed, archive.path, "The model has no list of entities. Copy the file again.")
        }
        check(
            root, at: "",
            ["NSEntities", "NSFetchRequestTemplates", "NSVersionIdentifiers", "NSConfigurations"])
        var content = ModelContent()
        content.identifiers = (root["NSVersionIdentifiers"]?.list ?? []).compactMap(\.text).filter { !$0.isEmpty }
        for (name, object) in entities { content.entities.append(entity(object, name: name)) }
        for (name, object) in root["NSConfigurations"]?.dictionary ?? [] {
            let members = (object.list ?? []).compactMap { $0["NSEntityName"]?.text }
            content.configurations.append(ModelVersion.Configuration(name: name, entityNames: members.sorted()))
        }
        for (name, object) in root["NSFetchRequestTemplates"]?.dictionary ?? [] {
            content.fetchRequests.append(fetchRequest(object, name: name, at: ""))
        }
        guard !archive.budget.isUsedUp else {
            throw ModelFileError(
                .tooLarge, archive.path, "The objects of the archive are parts of each other without end.")
        }
        content.findings = findings
        return content
    }

    // MARK: Parts that several objects have

    /// Reports the fields of an object that are not known.
    mutating func check(_ object: ArchivedObject, at place: String, _ known: Set<String>) {
        for name in object.keys where !known.contains(name) {
            findings.append(
                ModelFinding(
                    .unknown, name, at: place,
                    "This field of \(object.className ?? "an object") is not known, and was passed over."))
        }
    }

    /// The renaming identifier; nil if it is the name itself.
    func renaming(_ object: ArchivedObject, _ name: String) -> String? {
        object["NSRenamingIdentifier"]?.text.flatMap { $0 == name || $0.isEmpty ? nil : $0 }
    }

    func flag(_ object: ArchivedObject, _ name: String) -> Bool { object[name]?.integer == 1 }

    /// Texts by keys; other values as text.
    func userInfo(_ object: ArchivedObject) -> [String: String] { ArchivedText.pairs(object["NSUserInfo"]) }

    mutating func fetchRequest(
        _ object: ArchivedObject, name: String, at place: String
    ) -> ModelVersion.FetchRequest {
        var request = ModelVersion.FetchRequest(
            name: name, entityName: object["NSEntity"]?["NSEntityName"]?.text ?? object["NSEntityName"]?.text)
        request.predicate = ArchivedPredicate.text(of: object["NSPredicate"])
        request.sortKeys = (object["NSSortDescriptors"]?.list ?? []).compactMap { descriptor in
            descriptor["NSKey"]?.text.map { flag(descriptor, "NSAscending") ? $0 : "-" + $0 }
        }
        let names = [
            "fetchLimit": "NSFetchLimit", "fetchOffset": "NSFetchOffset", "fetchBatchSize": "NSBatchSize",
            "resultType": "NSResultType", "flags": "NSFetchRequestFlags",
        ]
        for (name, key) in names {
            if let value = object[key]?.integer, value != 0 { request.settings[name] = "\(value)" }
        }
        let known = [
            "NSEntity", "NSEntityName", "NSPredicate", "NSSortDescriptors", "NSHasFetchRequestFlags",
            "NSAllocationType", "NSValuesToFetch", "NSValuesToGroupBy", "NSHavingPredicate",
            "NSRelationshipKeyPathsForPrefetching",
        ]
        check(object, at: place.isEmpty ? name : place, Set(known).union(names.values))
        return request
    }
}
