#if Import
internal import Faultline

/// Properties of the models of stores to import.
enum SourceModel {
    static func name() -> Schema.Attribute { Schema.Attribute(name: "name", valueType: String?.self) }

    static func one(_ name: String, _ destination: String, _ inverse: String?) -> Schema.Relationship {
        Schema.Relationship(name: name, destination: destination, isToOne: true, inverseName: inverse)
    }

    static func many(_ name: String, _ destination: String, _ inverse: String?) -> Schema.Relationship {
        Schema.Relationship(name: name, destination: destination, isToOne: false, inverseName: inverse)
    }
}
#endif
