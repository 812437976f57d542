/// An entry of the feed: a photo with its owner and its newest comment.
package struct FeedEntry: Codable, Sendable, Equatable {
    package var photo: PhotoBody
    package var owner: String?
    package var commentCount: Int
    package var newestComment: String?

    package init(photo: PhotoBody, owner: String?, commentCount: Int, newestComment: String?) {
        self.photo = photo
        self.owner = owner
        self.commentCount = commentCount
        self.newestComment = newestComment
    }
}
