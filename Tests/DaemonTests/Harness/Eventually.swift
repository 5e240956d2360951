import Foundation

/// How long a test waits for what must come about.
enum Patience {
    /// Seconds after which it never will: far more than anything takes on a machine that is busy with other things.
    static let seconds = 120.0
}

/// Waits until something is so, asking again and again; throws when it is not in time.
func eventually(_ what: String, seconds: Double = Patience.seconds, _ isSo: () throws -> Bool) throws {
    let end = Date().addingTimeInterval(seconds)
    while try !isSo() {
        guard Date() < end else { throw HarnessFailure("in \(seconds) s it did not come about that \(what)") }
        usleep(20_000)
    }
}
