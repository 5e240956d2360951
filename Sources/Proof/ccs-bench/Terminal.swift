import Glibc

/// A progress line on a terminal.
final class Progress {
    private let isWanted: Bool
    private var shown = ""

    init(isWanted: Bool) { self.isWanted = isWanted }

    /// Shows the progress of an activity.
    func show(_ what: String, _ done: Int, of total: Int) {
        guard isWanted, total > 0 else { return }
        let filled = min(30, done * 30 / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
        let text = "\(what) [\(bar)] \(min(100, done * 100 / total)) %"
        guard text != shown else { return }
        shown = text
        Terminal.error("\r\u{1B}[K" + text)
    }

    /// Removes the line.
    func clear() {
        guard isWanted, !shown.isEmpty else { return }
        shown = ""
        Terminal.error("\r\u{1B}[K")
    }
}

/// The standard output streams.
enum Terminal {
    /// Writes to standard output.
    static func print(_ text: String) { write(text, to: 1) }
    /// Writes to standard error.
    static func error(_ text: String) { write(text, to: 2) }

    private static func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let rest = Array(bytes[done...])
            let count = unsafe Glibc.write(descriptor, rest, rest.count)
            guard count > 0 else { return }
            done += count
        }
    }
}
