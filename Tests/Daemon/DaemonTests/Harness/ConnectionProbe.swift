import Foundation

/// Connects new devices and new HTTPS clients continuously, one after the other (`Clients/connection_probe.py`).
struct ConnectionProbe {
    let driver: Driver

    init(_ driver: Driver) { self.driver = driver }

    init(_ daemon: RunningDaemon) throws {
        driver = try Driver(
            "connection_probe.py", [String(daemon.port("https")), String(daemon.port("device"))])
    }

    /// Waits until `count` clients of each kind that connected after `begin` have been served.
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

    /// Ends the clients and returns the failed attempts.
    func failures() throws -> [[String: Any]] {
        driver.endInput()
        try driver.expect(event: "done", seconds: 180)
        return driver.removeEvents { $0["event"] as? String == "failed" }
    }

    /// The clock of Python's `time.monotonic()`.
    static var now: TimeInterval {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
