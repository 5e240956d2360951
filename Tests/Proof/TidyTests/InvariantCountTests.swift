import Testing

/// The core and the store check their invariants in release builds too, in many places.
@Suite struct InvariantCountTests {
    private static let modules = ["Delivery", "RocksStore", "Store"]

    /// Calls of `demand` in the code of a file; its declarations, comments and strings do not count.
    private func checks(_ file: SourceFile) -> Int {
        file.code.reduce(0) { count, line in
            count
                + line.split(separator: "demand(", omittingEmptySubsequences: false).dropLast()
                .count { before in
                    let isWord = before.last.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
                    return !isWord && !before.hasSuffix("func ")
                }
        }
    }

    @Test("Delivery, Store and RocksStore have at least 200 always-on checks")
    func count() {
        let files = SourceTree.product.filter { Self.modules.contains($0.module) }
        for module in Self.modules {
            let count = files.filter { $0.module == module }.reduce(0) { $0 + checks($1) }
            #expect(count >= 40, "\(module) has \(count)")
        }
        #expect(files.reduce(0) { $0 + checks($1) } >= 200)
    }

    @Test("canary: declarations, comments, strings and other words are no checks")
    func canary() {
        let text = """
            func demand(_ holds: Bool) {}
            // demand(false)
            let text = "demand(false)"
            onDemand(1); undemand(2)
            demand(a, "b"); try demand(c, "d")
            """
        #expect(checks(SourceFile(path: "Sources/Core/Store/Planted.swift", text: text)) == 2)
    }
}
