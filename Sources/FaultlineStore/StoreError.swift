package import FaultlineLog

/// The error of reading or writing rows.
package struct StoreError: Error, Sendable {
    /// The kind of the error; messages may change, codes do not.
    package enum Code: Sendable, Equatable {
        /// The log refused; `cause` has its error.
        case log
        /// A row or a catalog entry does not decode although its checksum is right.
        case malformed
        /// The store was written under another schema.
        case schemaMismatch
        /// Two objects would have the same unique values.
        case duplicate
        /// The object does not exist any more.
        case missing
        /// A limit of the format would be exceeded.
        case tooLarge
        /// A number ran out (65,520 tables or layouts, for example).
        case exhausted
        /// A migration changed the store's tables since this container was created.
        case outdated
    }

    package let code: Code
    /// What happened and what to do.
    package let message: String
    package let cause: LogError?
    /// The object of the error, if a migration reports one.
    package let subject: Subject?

    /// An object, and a property of it.
    package struct Subject: Sendable {
        package let entityName: String
        package let object: RecordID
        /// The first one of several.
        package let propertyName: String?

        package init(entityName: String, object: RecordID, propertyName: String?) {
            self.entityName = entityName
            self.object = object
            self.propertyName = propertyName
        }
    }

    /// The unique values that two objects would share, with code `.duplicate`.
    package let conflict: KeyConflict?

    /// Unique values that a stored object has, and another one was given.
    package struct KeyConflict: Sendable {
        package let holder: RecordID
        /// The slots of the constraint.
        package let slots: [Int]
    }

    package init(
        _ code: Code, _ message: String, about subject: Subject? = nil, conflict: KeyConflict? = nil,
        cause: LogError? = nil
    ) {
        self.code = code
        self.message = message
        self.subject = subject
        self.conflict = conflict
        self.cause = cause
    }

    package init(_ cause: LogError) {
        self.init(.log, cause.message, cause: cause)
    }
}
