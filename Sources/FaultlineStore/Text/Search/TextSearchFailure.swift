package import FaultlineText

/// Why a search has no answer.
package enum TextSearchFailure: Error {
    /// The store cannot be read.
    case store(StoreError)
    /// The query cannot be evaluated.
    case query(TextQueryError)
}
