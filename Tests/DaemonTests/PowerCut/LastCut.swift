import Glibc

/// The cut that is being looked at: where the engine ends the process, that is the last word.
enum LastCut {
    nonisolated(unsafe) private static let text: UnsafeMutablePointer<CChar> = {
        let text = UnsafeMutablePointer<CChar>.allocate(capacity: 256)
        text.initialize(repeating: 0, count: 256)
        return text
    }()

    static func remember(_ cut: String) { _ = cut.withCString { strncpy(text, $0, 255) } }

    static func tellWhenAborted() {
        remember("the beginning")
        signal(SIGABRT) { _ in
            var parts = "ended in the middle of: "
            parts.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
            _ = write(2, LastCut.text, strlen(LastCut.text))
            _ = write(2, "\n", 1)
        }
    }
}
