extension ContextCore {
    /// Refuses a call that a data store of the user's cannot answer.
    ///
    /// - Throws: `DataStoreError.unsupportedFeature` if the context's container has one.
    func refuseForDataStore() throws {
        if link != nil { throw DataStoreError.unsupportedFeature }
    }
}

extension ContextCore {
    /// Joins the context to the data store of its container.
    package func join(_ localCopy: LocalCopy) {
        rules.allocatesChosenNumbers = true
        link = LinkedContext(self, localCopy)
    }
}
