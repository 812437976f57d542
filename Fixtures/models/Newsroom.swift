import Faultline

// Relationships: one to one, one to many, many to many, to oneself; inverses declared on one side, or by nobody.

@Model
final class Author {
    var name: String
    @Relationship(deleteRule: .deny, inverse: \Article.author) var articles = [Article]()
    @Relationship(deleteRule: .cascade) var profile: Profile?
    var editor: Author?
    @Relationship(inverse: \Author.editor) var edited: [Author] = []

    init(_ name: String) {
        self.name = name
    }
}

@Model
final class Profile {
    var about: String
    @Relationship(inverse: \Author.profile) var author: Author?

    init(about: String) {
        self.about = about
    }
}

@Model
final class Article {
    #Unique<Article>([\.headline, \.year])

    var headline: String
    var year: Int
    var body: String
    var author: Author?
    var topics: [Topic] = []

    init(headline: String, year: Int, body: String = "") {
        self.headline = headline
        self.year = year
        self.body = body
    }
}

@Model
final class Topic {
    @Attribute(.unique) var title: String
    @Relationship(inverse: \Article.topics) var articles: [Article] = []

    init(title: String) {
        self.title = title
    }
}
