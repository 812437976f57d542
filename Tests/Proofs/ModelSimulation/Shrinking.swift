/// Shrinks a failing list by removing smaller and smaller pieces as long as the rest still fails.
///
/// The algorithm is from Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
///
/// - Parameters:
///   - items: A list that fails.
///   - fails: Returns whether a list with some items removed fails too.
/// - Returns: A failing list from which no single item can be removed.
package func shrink<Item>(_ items: [Item], fails: ([Item]) throws -> Bool) rethrows -> [Item] {
    var items = items
    var pieceCount = 2
    while items.count > 1 {
        let size = max(1, (items.count + pieceCount - 1) / pieceCount)
        var isSmaller = false
        var start = 0
        while start < items.count {
            let rest = Array(items[..<start]) + Array(items[min(start + size, items.count)...])
            if !rest.isEmpty, try fails(rest) {
                items = rest
                isSmaller = true
            } else {
                start += size
            }
        }
        if size == 1, !isSmaller { break }
        pieceCount = isSmaller ? max(2, pieceCount - 1) : min(items.count, pieceCount * 2)
    }
    return items
}
