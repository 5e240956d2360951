import Foundation

/// The default deadline of tests.
enum Patience {
    /// Seconds after which a test gives up: far more than any step takes on a busy machine.
    static let seconds = 120.0
}

/// Polls a condition until it holds. Throws `HarnessFailure` if it does not hold in time.
func eventually(_ what: String, seconds: Double = Patience.seconds, _ condition: () throws -> Bool) throws {
    let end = Date().addingTimeInterval(seconds)
    while try !condition() {
        guard Date() < end else {
            throw HarnessFailure("timed out after \(seconds) s, waiting until \(what)")
        }
        usleep(20_000)
    }
}
