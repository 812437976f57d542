/// How much the operations of a context have walked, all together.
package struct WalkCounts {
    /// Entries of relationship indexes.
    package var indexEntries = 0
    /// Members of to-many relationships that were collected as objects.
    package var collectedMembers = 0
    /// How often objects were listed by an index or by a predicate's identifiers.
    package var candidateListings = 0
    /// Attributes that mappings have copied from row to row.
    package var copiedValues = 0
    /// Records of the history.
    package var historyRecords = 0
}
