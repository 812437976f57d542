import Faultline

/// Texts that lie outside of their rows, beside others.
enum Posters {
    @Model final class Poster {
        @Attribute(.spotlight) var title: String
        @Attribute(.spotlight, .externalStorage) var text: String

        init(_ title: String, text: String) {
            self.title = title
            self.text = text
        }
    }

    @Model final class Scroll {
        @Attribute(.spotlight, .externalStorage) var text: String

        init(_ text: String) { self.text = text }
    }

    @Model final class Wall {
        #TextIndex<Wall>([\.title, \.text])
        var title: String
        @Attribute(.externalStorage) var text: String

        init(_ title: String, text: String) {
            self.title = title
            self.text = text
        }
    }
}
