internal import FaultlineModel
internal import FaultlineStore

extension ModelType {
    /// The descriptions of the objects that contexts of some classes have: one for each table.
    package static func types(of classes: [any PersistentModel.Type]) -> [ModelType] {
        let all = Schema.reachable(from: classes).map { $0._$modelType }
        guard all.contains(where: { $0.parent != nil }),
            let tables = try? Schema.checked(classes, version: Schema.Version(1, 0, 0)).tables()
        else { return all }
        let byName = Dictionary(all.map { ($0.entityName, $0) }) { first, _ in first }
        return tables.entities.compactMap { table in
            byName[table.name].map { root in ModelFamily(table, byName).map { .family($0, root, table) } ?? root }
        }
    }

    /// Describes the objects of a table with several classes; it lives as long as the container.
    private static func family(_ family: ModelFamily, _ root: ModelType, _ table: Schema.Entity) -> ModelType {
        func open<Root: PersistentModel>(_ type: Root.Type) -> ModelType {
            ModelType(
                type, table, maker: { _ in root.makeFault() },
                defaults: { slot in
                    for (type, slots) in zip(family.classes, family.slots) {
                        if let own = slots.firstIndex(of: slot) { return type.defaultValue(of: own) }
                    }
                    return nil
                }, ancestry: .table(family))
        }
        return open(root.type)
    }

    /// The descriptions of all classes whose objects this type describes.
    var classes: [ModelType] { family?.classes ?? [self] }

    /// The slot of a property of one of the classes, by the name that the class gives it.
    func slot(named name: String, inClass place: Int) -> Int? {
        guard let hierarchy else { return slotsByName[name] }
        let ofClass = hierarchy.classes[place]
        return ofClass.names.firstIndex(of: name).map { ofClass.slots[$0] }
    }

    /// Gives the core of an object of the class the values that the initializers of subclasses have kept.
    func settle(_ object: AnyObject) { _ = asModel(object)._$coreAddress() }
}
