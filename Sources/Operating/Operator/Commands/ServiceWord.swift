/// What the daemon does for its clients, as answers, pages and the log name it.
public enum ServiceWord: String, CaseIterable, Sendable {
    /// It serves.
    case serving
    /// App servers are asked to reconnect, or all clients are being disconnected.
    case draining
    /// The ports of clients are closed until an operator opens them, or ccsd restarts.
    case drained
    /// It ends.
    case stopping

    /// All words, for the documentation of a field: `serving, draining, drained or stopping`.
    static let list =
        allCases.dropLast().map(\.rawValue).joined(separator: ", ") + " or \(stopping.rawValue)"
}
