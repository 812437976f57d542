import Hummingbird

/// A user who is to be added.
package struct NewUser: Codable, Sendable {
    package var email: String
    package var givenName: String
    package var familyName: String

    package init(email: String, givenName: String, familyName: String) {
        self.email = email
        self.givenName = givenName
        self.familyName = familyName
    }
}

/// A user.
package struct UserBody: ResponseCodable, Sendable, Equatable {
    package var id: String
    package var email: String
    package var givenName: String
    package var familyName: String

    package init(id: String, email: String, givenName: String, familyName: String) {
        self.id = id
        self.email = email
        self.givenName = givenName
        self.familyName = familyName
    }
}
