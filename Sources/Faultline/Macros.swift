public import FaultlineModel
public import FaultlineObjects

/// Makes a class a model: its properties are stored, observed, and loaded when they are touched.
///
/// Every stored property with a `var` of its own and without observers is persisted, unless it is marked `@Transient`.
/// The class needs an initializer, and must not be generic. It may inherit from another model class: name that first, and
/// call `super.init` in each designated initializer.
///
///     @Model(originalName: "Person") final class Employee {
///
/// - Parameter originalName: The name of the class when its objects were first stored, or in the version just before:
///   they and the relationships to them keep their values, and no stage is needed. Nil if it always had this name.
@attached(
    member, conformances: Observable, PersistentModel, Sendable,
    names: named(_SwiftDataNoType), named(_$modelType), named(_$ownType), named(_$Root), named(_$core),
    named(_$coreAddress), named(_$values), named(_$slot), named(init), named(persistentBackingData),
    named(schemaMetadata), named(_$fields))
@attached(memberAttribute)
@attached(extension, conformances: Observable, PersistentModel, Sendable)
public macro Model(originalName: String? = nil) = #externalMacro(module: "FaultlineMacros", type: "ModelMacro")

/// Defines how an attribute is stored.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "FaultlineMacros", type: "PropertyOptionsMacro")

/// Defines a relationship's inverse, delete rule and bounds.
///
/// Name the inverse on one side only. `inverse: nil` says that there is none; without `inverse` it is inferred if
/// only one is possible.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
    inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "FaultlineMacros", type: "PropertyOptionsMacro")

/// Keeps a property out of the store; it has its default value again whenever its object is loaded.
@attached(peer)
public macro Transient() = #externalMacro(module: "FaultlineMacros", type: "PropertyOptionsMacro")

/// Declares groups of properties whose values no two objects of a model share; saving a second one updates the first.
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "FaultlineMacros", type: "PropertyGroupsMacro")

/// Declares groups of properties by which objects are found and ordered without reading all of them.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "FaultlineMacros", type: "PropertyGroupsMacro")

/// Declares indexes, each of a type.
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "FaultlineMacros", type: "PropertyGroupsMacro")

/// Declares texts in which objects are searched for words together: `ModelContext.search(_:_:limit:)`.
///
/// - Parameters:
///   - texts: Properties of type `String` or `String?`, at most 32.
///   - weights: The weight of each property in the rank of an object; 1 each if there are none.
@freestanding(declaration)
public macro TextIndex<T: PersistentModel>(_ texts: [PartialKeyPath<T>], weights: [Double] = []) =
    #externalMacro(module: "FaultlineMacros", type: "PropertyGroupsMacro")

/// Makes an actor run on an executor that owns a model context.
///
/// An initializer with a container alone is added unless the actor has one, or has properties without a value.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "FaultlineMacros", type: "ModelActorMacro")

/// Attached by `@Model` to each persisted property, with the property's position among them.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _PersistedProperty(_ slot: Int, mayInherit: Bool = false) =
    #externalMacro(module: "FaultlineMacros", type: "PersistedPropertyMacro")

/// Attached by `@Model` to each persisted property whose values go through a transformer.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_))
public macro _TransformablePersistedProperty(_ slot: Int, mayInherit: Bool = false) =
    #externalMacro(module: "FaultlineMacros", type: "TransformablePersistedPropertyMacro")

/// Attached by `@Model` to the designated initializers of a class that inherits from a model.
@attached(body)
public macro _HeirInitializer() = #externalMacro(module: "FaultlineMacros", type: "HeirInitializerMacro")
