import Foundation

/// A client program, possibly in another language, that reads commands and reports events, both as JSON lines.
final class Driver {
    private let process = ChildProcess()
    private let feed = Pipe()
    private let lines: Lines
    private let complaints: URL
    /// Events that no call of `expect` has returned yet.
    private var events: [[String: Any]] = []
    /// Whether its input lines are CCS payloads rather than commands.
    var acceptsPayloads = false

    /// Starts a driver of `Clients/` and writes `secret`, if given, as the first line of its input.
    convenience init(
        _ script: String, _ arguments: [String], secret: String? = nil, environment: [String: String] = [:],
        python: URL = TestPaths.python
    ) throws {
        let path = TestPaths.clients.appendingPathComponent(script).path
        let (program, words) =
            switch script.split(separator: ".").last {
            case "rb": (TestPaths.ruby, [path])
            case "pl": (TestPaths.perl, [path])
            default: (python, ["-u", path])
            }
        try self.init(program: program, words + arguments, secret: secret, environment: environment)
    }

    /// Starts any program with the interface of a driver.
    init(program: URL, _ arguments: [String], secret: String?, environment: [String: String] = [:]) throws {
        let output = Pipe()
        lines = Lines(output.fileHandleForReading)
        complaints = FileManager.default.temporaryDirectory.appendingPathComponent(
            "driver-\(UInt32.random(in: 0...UInt32.max)).txt")
        _ = FileManager.default.createFile(atPath: complaints.path, contents: nil)
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = feed
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: complaints)
        try process.run()
        if let secret { try write(line: secret) }
    }

    deinit {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: complaints)
    }

    /// Writes a command.
    func command(_ command: [String: Any]) throws {
        var data = try JSONSerialization.data(withJSONObject: command)
        data.append(10)
        try write(data)
    }

    /// Writes one line of input unchanged, for drivers without JSON commands.
    func write(line: String) throws { try write(Data((line + "\n").utf8)) }

    /// Writes input. Throws with the driver's standard error if it has ended, so that only this test fails.
    private func write(_ data: Data) throws {
        do { try feed.fileHandleForWriting.write(contentsOf: data) } catch {
            throw HarnessFailure("cannot write to the driver (\(error)); its standard error: \(words)")
        }
    }

    /// Sends a CCS message or ack.
    func send(_ json: [String: Any]) throws {
        try command(acceptsPayloads ? json : ["do": "send", "json": json])
    }

    /// Returns the first earlier or coming event that matches; others are kept for later calls.
    @discardableResult
    func expect(_ what: String, seconds: Double = Patience.seconds, _ fits: ([String: Any]) -> Bool) throws
        -> [String: Any]
    {
        if let at = events.firstIndex(where: fits) { return events.remove(at: at) }
        let end = Date().addingTimeInterval(seconds)
        while end.timeIntervalSinceNow > 0, let line = lines.next(seconds: end.timeIntervalSinceNow) {
            guard let event = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
            else {
                throw HarnessFailure("the driver printed an invalid line: \(line)")
            }
            if fits(event) { return event }
            events.append(event)
        }
        throw HarnessFailure("\(what) did not come; other events: \(events); standard error: \(words)")
    }

    /// The end of the driver's standard error.
    private var words: Substring {
        ((try? String(contentsOf: complaints, encoding: .utf8)) ?? "").suffix(2_000)
    }

    /// Waits for an event with this name.
    @discardableResult
    func expect(event: String, seconds: Double = Patience.seconds) throws -> [String: Any] {
        try expect(event, seconds: seconds) { $0["event"] as? String == event }
    }

    /// Waits for a CCS message whose JSON matches, and returns the JSON.
    @discardableResult
    func expectJSON(_ what: String, seconds: Double = Patience.seconds, _ fits: ([String: Any]) -> Bool)
        throws -> [String:
        Any]
    {
        let event = try expect(what, seconds: seconds) { event in
            guard event["event"] as? String == "message", let json = event["json"] as? [String: Any] else {
                return false
            }
            return fits(json)
        }
        return event["json"] as? [String: Any] ?? [:]
    }

    /// Removes and returns all unexpected events that match.
    func removeEvents(_ fits: ([String: Any]) -> Bool) -> [[String: Any]] {
        defer { events.removeAll(where: fits) }
        return events.filter(fits)
    }

    /// Closes the driver's input.
    func endInput() { try? feed.fileHandleForWriting.close() }

    /// Closes the driver's input, on which it disconnects in an orderly way, and waits for its end.
    func finish() {
        endInput()
        let end = Date().addingTimeInterval(10)
        while process.isRunning, Date() < end { usleep(5_000) }
    }

    /// Kills the driver, which drops its connection.
    func drop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
