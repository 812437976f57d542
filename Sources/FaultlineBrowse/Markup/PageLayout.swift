/// The frame of each page: head, navigation, and the place of the store.
struct PageLayout {
    /// The path before all addresses, with the token: `/0123abcd/`.
    let base: String
    /// The store's directory.
    let store: String
    /// The newest transaction that the pages show.
    let sequence: UInt64

    /// Makes a page.
    ///
    /// - Parameters:
    ///   - title: The heading.
    ///   - trail: The pages above this one.
    ///   - seconds: The page loads itself again after so many seconds.
    ///   - content: The content.
    /// - Returns: The page.
    func page(
        _ title: String, trail: [(String, Link)] = [], refreshes seconds: Int? = nil, _ content: Markup
    ) -> Markup {
        let trail = Markup(
            trail.map { "<a href=\"\($1.address(base))\">\($0)</a> <span aria-hidden=\"true\">/</span> " })
        let refresh: Markup? = seconds.map { "<meta http-equiv=\"refresh\" content=\"\($0)\"/>" }
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"/><title>\(title) – \(store)</title>
            <meta name="viewport" content="width=device-width"/><meta name="color-scheme" content="light dark"/>\(refresh)
            <link rel="stylesheet" href="\(Link.style.address(base))"/><link rel="icon" href="data:,"/></head><body>
            <a class="skip" href="#content">To the content</a>
            <header><nav aria-label="Pages"><strong>Faultline</strong>
            <a accesskey="o" href="\(Link.overview.address(base))">Overview</a>
            <a accesskey="h" href="\(Link.history.address(base))">History</a>
            <a accesskey="s" href="\(Link.space.address(base))">Space</a></nav>
            <p class="store"><code>\(store)</code> · transaction \(sequence) · read only</p></header>
            <main id="content" tabindex="-1"><h1>\(trail)\(title)</h1>
            \(content)
            </main>
            <footer>Keys: <kbd>Alt</kbd> (Firefox: <kbd>Alt</kbd> <kbd>Shift</kbd>) with <kbd>o</kbd> overview, \
            <kbd>h</kbd> history, <kbd>s</kbd> space, <kbd>f</kbd> filter, <kbd>n</kbd> next page.</footer></body></html>
            """
    }

    /// A link.
    func link(_ text: String, _ link: Link, _ query: [(String, String)] = []) -> Markup {
        "<a href=\"\(link.address(base, query))\">\(text)</a>"
    }
}
