import Foundation

/// The default deadline of tests.
enum Patience {
    /// Seconds after which a test gives up: far more than any step takes on a busy machine.
    static let seconds = 120.0
}

/// Polls a condition until it holds. Throws `HarnessFailure` if it does not hold in time.
///
/// The pauses grow to a tenth of a second: many conditions start a program, and other tests need the processors meanwhile.
func eventually(_ what: String, seconds: Double = Patience.seconds, _ condition: () throws -> Bool) throws {
    let end = Date().addingTimeInterval(seconds)
    var pause: UInt32 = 10_000
    while try !condition() {
        guard Date() < end else {
            throw HarnessFailure("timed out after \(seconds) s, waiting until \(what)")
        }
        usleep(pause)
        pause = min(pause * 3 / 2, 100_000)
    }
}

/// Waits until a count has reached a number. Throws `HarnessFailure` if it does not grow for `Patience.seconds`: how long the whole takes
/// depends on the machine.
func eventually(_ what: String, reaches end: Int, _ count: () throws -> Int) throws {
    var last = try count()
    while last < end {
        var now = last
        try eventually("\(what): more than \(last) of \(end)") {
            now = try count()
            return now > last
        }
        last = now
    }
}
