import Foundation

/// A client in its own language that takes commands and tells what it sees, both as JSON lines.
final class Driver {
    private let process = ChildProcess()
    private let feed = Pipe()
    private let lines: Lines
    private let complaints: URL
    /// What it told and nobody has asked for yet.
    private var told: [[String: Any]] = []
    /// Whether it takes payloads as they are, rather than commands.
    var takesBarePayloads = false

    /// Starts a driver of `Clients/`; the first line of its input is `secret`, where there is one.
    convenience init(
        _ script: String, _ arguments: [String], secret: String? = nil, environment: [String: String] = [:],
        python: URL = Places.python
    ) throws {
        let path = Places.clients.appendingPathComponent(script).path
        let (program, words) =
            switch script.split(separator: ".").last {
            case "rb": (Places.ruby, [path])
            case "pl": (Places.perl, [path])
            default: (python, ["-u", path])
            }
        try self.init(program: program, words + arguments, secret: secret, environment: environment)
    }

    /// Starts any program that speaks as the drivers do.
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

    /// Gives a command.
    func tell(_ command: [String: Any]) throws {
        var data = try JSONSerialization.data(withJSONObject: command)
        data.append(10)
        try write(data)
    }

    /// Writes one line of input as it is, for drivers that take no JSON commands.
    func write(line: String) throws { try write(Data((line + "\n").utf8)) }

    /// A driver that ended takes nothing: the test fails by what it said, the run goes on.
    private func write(_ data: Data) throws {
        do { try feed.fileHandleForWriting.write(contentsOf: data) } catch {
            throw HarnessFailure("the driver takes no input (\(error)); it said: \(words)")
        }
    }

    /// Submits a message or an ack.
    func send(_ json: [String: Any]) throws {
        try tell(takesBarePayloads ? json : ["do": "send", "json": json])
    }

    /// The first thing told, from now or earlier, that fits; others are kept for later.
    @discardableResult
    func expect(_ what: String, seconds: Double = Patience.seconds, _ fits: ([String: Any]) -> Bool) throws
        -> [String: Any]
    {
        if let at = told.firstIndex(where: fits) { return told.remove(at: at) }
        let end = Date().addingTimeInterval(seconds)
        while end.timeIntervalSinceNow > 0, let line = lines.next(seconds: end.timeIntervalSinceNow) {
            guard let event = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
            else {
                throw HarnessFailure("the driver printed \(line)")
            }
            if fits(event) { return event }
            told.append(event)
        }
        throw HarnessFailure("\(what) did not come; told \(told); the driver said: \(words)")
    }

    /// The end of what it wrote to its standard error.
    private var words: Substring {
        ((try? String(contentsOf: complaints, encoding: .utf8)) ?? "").suffix(2_000)
    }

    /// Waits for an event of that name.
    @discardableResult
    func expect(event: String, seconds: Double = Patience.seconds) throws -> [String: Any] {
        try expect(event, seconds: seconds) { $0["event"] as? String == event }
    }

    /// Waits for a CCS message whose JSON fits, and returns the JSON.
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

    /// All that it told, nobody has asked for and fits.
    func takeAll(_ fits: ([String: Any]) -> Bool) -> [[String: Any]] {
        defer { told.removeAll(where: fits) }
        return told.filter(fits)
    }

    /// Ends its input.
    func endInput() { try? feed.fileHandleForWriting.close() }

    /// Ends its input, upon which it disconnects in its own way, and waits.
    func finish() {
        endInput()
        let end = Date().addingTimeInterval(10)
        while process.isRunning, Date() < end { usleep(5_000) }
    }

    /// Drops it without a goodbye.
    func drop() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
