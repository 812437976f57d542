import BenchmarkKit

/// A peer that can change its tables.
///
/// Each change is one transaction, and keeps both indexes.
protocol MigratingPeer: IndexingPeer {
    /// Creates the tables with the photo as the last column of the employees, and the hundred departments.
    func createWithPhotoColumn() throws
    /// Inserts employees with their photos, into those tables, in one transaction.
    func insertWithPhotoColumn(_ employees: [PhotographedRow]) throws

    /// Copies the employees into a table with their names in two parts; code splits each name.
    func splitNames() throws
    /// Copies the employees into a table with the level renamed and a bonus, by one statement.
    func renameLevel() throws
    /// Adds up the employees of each level by code, and replaces all tables by one of the sums.
    func mergeLevels() throws
    /// Moves the photos into a table of their own: each by code, through the program's memory, or all by one statement.
    func splitPhotos(isByCode: Bool) throws

    /// The first column of a query, as texts.
    func texts(_ query: String) throws -> [String]
}
