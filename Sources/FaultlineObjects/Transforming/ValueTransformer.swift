internal import FaultlineDisk
public import FaultlineModel
internal import Foundation
internal import Synchronization

/// Turns values of any type into bytes that an attribute stores, and back: for types that are not `Codable`.
///
///     final class ColorTransformer: ValueTransformer {
///         override func transformedValue(_ value: Any?) -> Any? { (value as? Color)?.bytes }
///         override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).map(Color.init) }
///     }
///     @Attribute(.transformable(by: ColorTransformer.self)) var color: Color
///
/// It has the names of Foundation's class, which Linux lacks. Several threads may call a transformer at once.
open class ValueTransformer {
    /// Makes a transformer; attributes that name its class make one by themselves.
    public required init() {}

    /// The class of the results; the library does not ask.
    open class func transformedValueClass() -> AnyClass { NSData.self }

    /// Whether results can be turned back; the library does not ask.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Turns a value into the `Data` to store.
    ///
    /// - Returns: Nil if the value has no such form: then saves of the object throw.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// Turns stored bytes, which are passed as `Data`, into a value; nil if they are none.
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }

    // MARK: Names

    // Safe because transformers are made to be called by several threads at once.
    private struct Registered: @unchecked Sendable {
        let transformer: ValueTransformer
    }

    private static let registered = Guarded<[String: Registered]>([:])

    /// Makes a transformer known under a name, for `.transformable(by: "name")`; nil removes it.
    ///
    ///     ValueTransformer.setValueTransformer(ColorTransformer(), forName: NSValueTransformerName("Color"))
    ///
    /// - Complexity: O(1).
    public static func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registered.withLock { $0[name.rawValue] = transformer.map(Registered.init) }
    }

    /// The transformer that is known under a name; nil for none.
    ///
    /// - Complexity: O(1).
    public static func transformer(forName name: NSValueTransformerName) -> ValueTransformer? {
        registered.withLock { $0[name.rawValue]?.transformer }
    }

    /// The names of all known transformers, in alphabetical order.
    ///
    /// - Complexity: O(n log n) for n names.
    public static func valueTransformerNames() -> [NSValueTransformerName] {
        registered.withLock { $0.keys.sorted() }.map(NSValueTransformerName.init(rawValue:))
    }

    fileprivate static func registerIfNeeded(_ name: String) {
        let made = Registered(transformer: self.init())
        registered.withLock { if $0[name] == nil { $0[name] = made } }
    }
}

/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as text.
    public let rawValue: String

    /// Makes a name of a text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a name of a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension Schema.Attribute.Option {
    /// Values pass through a transformer of a class, known under the name of the class.
    ///
    ///     @Attribute(.transformable(by: ColorTransformer.self)) var color: Color
    ///
    /// A transformer that was registered under that name is kept; else one is made.
    public static func transformable(by type: ValueTransformer.Type) -> Schema.Attribute.Option {
        let name = String(describing: type)
        type.registerIfNeeded(name)
        return .transformable(by: name)
    }
}
