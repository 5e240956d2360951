import Foundation

/// New devices and new HTTPS clients, one after the other all the time (`Clients/knocker.py`).
struct Knocker {
    let driver: Driver

    init(_ driver: Driver) { self.driver = driver }

    init(_ daemon: RunningDaemon) throws {
        driver = try Driver("knocker.py", [String(daemon.port("https")), String(daemon.port("device"))])
    }

    /// Waits until so many of each kind, which came from now on, have been served.
    func expectServed(_ count: Int, since begin: TimeInterval = Self.now, seconds: Double = 180) throws {
        for kind in ["https", "device"] {
            for _ in 0..<count {
                try driver.expect("\(kind) served", seconds: seconds) { event in
                    event["event"] as? String == "ok" && event["kind"] as? String == kind
                        && event["at"] as? Double ?? 0 >= begin
                }
            }
        }
    }

    /// Ends it, and returns all that failed.
    func failures() throws -> [[String: Any]] {
        driver.endInput()
        try driver.expect(event: "done", seconds: 180)
        return driver.takeAll { $0["event"] as? String == "failed" }
    }

    /// What Python calls `time.monotonic()`.
    static var now: TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
