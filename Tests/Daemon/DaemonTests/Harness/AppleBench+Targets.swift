import Basics
import Client
import Foundation
import Testing
import Wire
import WireSupport

/// Topics, groups and traces.
extension AppleBench {
    /// Subscribes registration tokens to a topic.
    func subscribe(_ tokens: [String], to topic: String) throws {
        let body: [String: Any] = ["to": "/topics/\(topic)", "registration_tokens": tokens]
        let answer = try #require(try request([["POST", "/iid/v1:batchAdd", body]]).first)
        let results = answer.json["results"] as? [[String: Any]]
        #expect(results?.count == tokens.count && results?.allSatisfy(\.isEmpty) == true, "\(answer)")
    }

    /// Creates a device group. Returns its notification key.
    func createGroup(of tokens: [String], by device: TestDevice) throws -> String {
        var call = HTTPCall("POST", "/fcm/notification")
        call.add("Content-Type", "application/json")
        call.add("project_id", sender.id)
        call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
        call.body = Array(
            try JSONSerialization.data(withJSONObject: [
                "operation": "create", "notification_key_name": "team", "registration_ids": tokens,
            ]))
        let answer = try JSONValue(parsing: device.call(daemon, call).text)
        return try #require(answer["notification_key"]?.text, "\(answer)")
    }

    /// Returns how many requests to Apple's production ended with a reason, of a daemon with an administrative port.
    func answers(_ reason: String, port: UInt16) throws -> Int {
        try metric(
            "ccs_apns_answers_total{environment=\"production\",reason=\"\(reason)\"}", port: port)
    }

    /// Returns the value of a sample with its labels.
    func metric(_ sample: String, port: UInt16) throws -> Int {
        let page = try PlainHTTP.get("/metrics", port: port)
        let line = page.split(separator: "\n").first { $0.hasPrefix("\(sample) ") }
        return try #require(line.flatMap { Int($0.dropFirst(sample.count + 1)) }, "\(sample)")
    }

    /// Traces a registration while `body` runs, until a step is printed. Returns the steps with their details.
    ///
    /// Checks that no line has the token or what `body` sends as `hush-hush`.
    func trace(_ token: String, until last: String, _ body: () throws -> Void) throws -> [String] {
        let process = ChildProcess()
        let output = Pipe()
        process.executableURL = TestPaths.programs.appendingPathComponent("ccsctl")
        process.arguments = [
            "--socket", daemon.controlSocket, "--json", "devices", "trace", token, "--seconds", "3600",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { process.end() }
        let lines = Lines(output.fileHandleForReading)
        #expect(lines.next(seconds: Patience.seconds)?.contains("tracing") == true)
        try body()
        var steps: [String] = []
        while steps.last?.hasPrefix(last) != true {
            guard let line = lines.next(seconds: Patience.seconds) else {
                throw HarnessFailure("the trace has no \(last): \(steps)")
            }
            #expect(!line.contains("hush-hush") && !line.contains(token))
            let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let row = object?["trace"] as? [String: Any], let step = row["step"] as? String else {
                continue
            }
            let words = [step, row["detail"] as? String ?? ""]
            steps.append(words.filter { !$0.isEmpty }.joined(separator: " "))
        }
        return steps
    }
}
