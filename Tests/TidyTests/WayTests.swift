import Testing

/// The files that texts lead a reader to are there.
@Suite struct WayTests {
    /// What stands between backticks in a text and has the form of a Swift file or folder: `Delivery/Partition`, `DeviceHub+Caps`.
    private static func names(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            .filter { name in
                name.first?.isUppercase == true && (name.contains("/") || name.contains("+"))
                    && name.allSatisfy { $0.isLetter || $0.isNumber || "/+.".contains($0) }
            }
    }

    /// Names that no Swift file or folder of the product ends with.
    private static func missing(in text: some StringProtocol) -> [String] {
        let paths = SourceTree.product.map(\.path)
        return names(in: text).filter { name in
            let file = name.hasSuffix(".swift") ? "/" + name : "/" + name + ".swift"
            return !paths.contains { $0.hasSuffix(file) || $0.contains("/" + name + "/") }
        }
    }

    @Test("the README's way of a message leads to files that are there")
    func readme() throws {
        let text = try #require(SourceTree.read("README.md"))
        let start = try #require(text.firstRange(of: "**The way of a message.**"))
        let way = text[start.lowerBound...].prefix(while: { $0 != "#" })
        #expect(Self.names(in: way).count >= 8)
        expectNone(Self.missing(in: way).map { "README.md leads to \($0), which is not there" })
    }

    @Test("the overviews of modules lead to files that are there")
    func overviews() {
        let overviews = SourceTree.files.filter { $0.path.hasSuffix("/Overview.md") }
        #expect(!overviews.isEmpty)
        for overview in overviews {
            #expect(!Self.names(in: overview.text).isEmpty)
            let missing = Self.missing(in: overview.text)
            expectNone(missing.map { "\(overview.path) leads to \($0), which is not there" })
        }
    }

    @Test("canary: a file that is gone is noticed")
    func canary() {
        #expect(Self.missing(in: "see `Delivery/Dispatcher` and `DeviceHub+Caps`") == ["Delivery/Dispatcher"])
    }
}
