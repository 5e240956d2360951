import Foundation

/// Waits until something is so, asking again and again; throws when it is not in time.
func eventually(_ what: String, seconds: Double = 20, _ isSo: () throws -> Bool) throws {
    let end = Date().addingTimeInterval(seconds)
    while try !isSo() {
        guard Date() < end else { throw HarnessFailure("in \(seconds) s it did not come about that \(what)") }
        usleep(20_000)
    }
}
