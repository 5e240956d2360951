import Basics

/// How long a delivery waits before the core offers it again (apns 1.7). The core counts the attempts.
enum RetryDelay {
    private static let busy: [Int64] = [1_000, 5_000, 30_000, 120_000, 900_000]
    private static let device: [Int64] = [10_000, 30_000, 120_000, 600_000]

    /// Returns the milliseconds after an answer such as 503, or after a request whose outcome is unknown.
    static func busy(attempt: Int, _ random: inout SeededRandom) -> Int64 { step(busy, attempt, &random) }

    /// Returns the milliseconds after `TooManyRequests`, which concerns one device.
    static func device(attempt: Int, _ random: inout SeededRandom) -> Int64 { step(device, attempt, &random) }

    /// Long waits vary by a fifth, so that messages that failed together do not return together.
    private static func step(_ steps: [Int64], _ attempt: Int, _ random: inout SeededRandom) -> Int64 {
        let wait = steps[min(max(0, attempt), steps.count - 1)]
        guard wait >= 30_000 else { return wait }
        return Int64.random(in: wait - wait / 5...wait + wait / 5, using: &random)
    }
}
