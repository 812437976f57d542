public import FaultlineObjects
public import Foundation

/// Makes a predicate for the objects of a model from a closure.
///
///     let recent = #Predicate<Photo> { $0.takenAt > date && $0.album?.name == "Sea" }
///     let photos = try context.fetch(FetchDescriptor(predicate: recent))
///
/// The closure is not called: its expression becomes the nodes of a `Foundation.Predicate`. It may have properties of the
/// object, comparisons, `&&`, `||`, `!`, arithmetic, ranges, optional chains, `??`, `if` with `else`, `?:`, `is`, `as?`,
/// subscripts, and calls of `contains`, `allSatisfy`, `filter`, `flatMap`, `min`, `max`, `starts(with:)`, `hasPrefix`,
/// `localizedStandardContains`, `localizedCompare` and `caseInsensitiveCompare`. `other.evaluate($0)` evaluates another
/// predicate or expression. The compiler refuses other calls.
///
/// An expression without a value of the object is a constant: a property, a call with any arguments, an enum's case, a
/// comparison. It is computed once, when the predicate is made, even where a condition in front makes it unnecessary. Its
/// type must be `Codable` and `Sendable`. Arithmetic and ranges of constants are parts of the predicate, so that
/// arithmetic without a result is an error of the fetch.
///
/// A long condition may compile only if the closure names the type of its parameter: `{ (photo: Photo) in`.
///
/// Foundation's macro of the same name makes predicates for other types.
///
/// - Parameter body: The condition, as one expression.
/// - Complexity: A predicate is made in O(n) for n nodes.
@freestanding(expression)
public macro Predicate<each Input: PersistentModel>(
    _ body: (repeat each Input) -> Bool
) -> Foundation.Predicate<repeat each Input> = #externalMacro(module: "FaultlineMacros", type: "PredicateMacro")

/// Makes an expression for the objects of a model from a closure.
///
///     let total = #Expression<Order, Int> { $0.count * $0.price }
///     let large = #Predicate<Order> { total.evaluate($0) > 1_000 }
///
/// The closure has the forms that `#Predicate` has, and any value. Foundation's macro of the same name makes expressions
/// for other types.
///
/// - Parameter body: The value, as one expression.
/// - Complexity: An expression is made in O(n) for n nodes.
@freestanding(expression)
public macro Expression<each Input: PersistentModel, Value>(
    _ body: (repeat each Input) -> Value
) -> Foundation.Expression<repeat each Input, Value> =
    #externalMacro(module: "FaultlineMacros", type: "ExpressionOfModelMacro")
