import Glibc

/// Records the current cut, which a signal handler prints if the engine aborts the process.
enum LastCut {
    nonisolated(unsafe) private static let text: UnsafeMutablePointer<CChar> = {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
        text.initialize(repeating: 0, count: 256)
        return text
    }()

    static func remember(_ cut: String) { _ = cut.withCString { strncpy(text, $0, 255) } }

    static func printWhenAborted() {
        remember("before the first cut")
        signal(SIGABRT) { _ in
            var parts = "aborted during: "
            parts.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
            _ = write(2, LastCut.text, strlen(LastCut.text))
            _ = write(2, "\n", 1)
        }
    }
}
