import ClientProtocol
import Foundation
import Testing
import Wire

/// A mock of Apple, a daemon that uses it, and an app server with its server key and a service account.
final class AppleBench {
    let apple: AppleMock
    private(set) var daemon: RunningDaemon
    let sender: (id: String, key: String)
    private let flags: [String]
    private let keyFile: String
    private var server: Driver?

    /// Starts a daemon; `hasKey` adds a key for all apps.
    init(_ apple: AppleMock? = nil, flags more: [String] = [], hasKey: Bool = true) throws {
        let apple = try apple ?? AppleMock()
        self.apple = apple
        flags =
            apple.flags + ["--device-messages-per-minute", "0", "--device-messages-per-hour", "0"] + more
        daemon = try RunningDaemon(flags: flags)
        sender = try daemon.firstSender
        keyFile = daemon.directory.appendingPathComponent("account.json").path
        _ = try daemon.ctl("service-accounts", "add", sender.id, "--out", keyFile)
        if hasKey { try addKey() }
    }

    /// Returns the app server, which is started when the first request needs it.
    private func runningServer() throws -> Driver {
        if let server { return server }
        let driver = try Driver(
            "ordered_http2.py", [String(daemon.port("https")), daemon.authority, keyFile], secret: sender.key)
        try driver.expect(event: "ready")
        server = driver
        return driver
    }

    /// Adds a key for all apps. Returns the results of its test by environment.
    @discardableResult
    func addKey() throws -> [String: String] {
        let added = try daemon.ctl(
            "apns", "add", apple.file("AuthKey_\(AppleMock.key).p8"), "--team-id", AppleMock.team,
            "--test-bundle-id", AppleMock.bundle)
        return Self.tests(added)
    }

    /// Returns the results of the test that `ccsctl apns add` has made.
    static func tests(_ added: [String: Any]) -> [String: String] {
        var results: [String: String] = [:]
        for test in added["tests"] as? [[String: Any]] ?? [] {
            if let name = test["environment"] as? String { results[name] = test["result"] as? String }
        }
        return results
    }

    /// Kills the daemon, runs `meanwhile` and starts the daemon again. With SIGTERM it drains.
    func restart(reactors: Int = 1, by signal: Int32 = SIGKILL, _ meanwhile: () throws -> Void = {}) throws {
        daemon.signal(signal)
        #expect(try daemon.wait() == (signal == SIGKILL ? -SIGKILL : 0))
        try meanwhile()
        server = nil
        daemon = try RunningDaemon(continuing: daemon.scratch, flags: flags, reactors: reactors)
    }

    // MARK: Tokens

    /// Returns a device token with a scripted prefix, which no other `number` has.
    static func deviceToken(_ prefix: String, _ number: Int = 0) -> String {
        let end = String(number, radix: 16)
        return prefix + String(repeating: "0", count: 64 - prefix.count - end.count) + end
    }

    /// Imports device tokens. Returns their registration tokens.
    func register(_ tokens: [String], bundle: String = AppleMock.bundle, isSandbox: Bool = false) throws
        -> [String]
    {
        let pages = stride(from: 0, to: tokens.count, by: 100).map {
            tokens[$0..<min($0 + 100, tokens.count)]
        }
        let answers = try request(
            pages.map {
                [
                    "POST", "/iid/v1:batchImport",
                    ["application": bundle, "sandbox": isSandbox, "apns_tokens": Array($0)],
                ]
            })
        return try answers.flatMap { answer in
            try #require(answer.json["results"] as? [[String: Any]], "\(answer)").map {
                try #require($0["registration_token"] as? String, "\(answer)")
            }
        }
    }

    /// Has an app register with its device token for production, as it does at each start. Returns the registration token.
    func report(_ token: String, by phone: TestDevice) throws -> String {
        let app = DeviceCalls.App(category: AppleMock.bundle, sender: sender.id)
        var call = DeviceCalls.register(app, phone.identity)
        call.body += Array("&apns_token=p_\(token)".utf8)
        return try DeviceCalls.token(try phone.call(daemon, call))
    }

    // MARK: Messages

    /// An answer of the daemon.
    struct Answer {
        var status: Int
        var json: [String: Any]

        private var result: [String: Any] { (json["results"] as? [[String: Any]])?.first ?? [:] }
        /// The ID of a message that was accepted, over either interface.
        var messageID: String? { result["message_id"] as? String ?? json["name"] as? String }
        /// The error word of legacy HTTP.
        var word: String? { result["error"] as? String }

        private func detail(_ type: String) -> [String: Any] {
            let error = json["error"] as? [String: Any]
            let details = error?["details"] as? [[String: Any]] ?? []
            return details.first { ($0["@type"] as? String)?.hasSuffix(type) == true } ?? [:]
        }

        /// Status and error code of HTTP v1.
        var code: String { "\(status) \(detail("FcmError")["errorCode"] as? String ?? "-")" }
        /// Apple's status and reason in an error of HTTP v1.
        var verdict: String? {
            let found = detail("ApnsError")
            return (found["statusCode"] as? Int).map { "\($0) \(found["reason"] as? String ?? "-")" }
        }
    }

    /// Sends requests (method, path, body or `NSNull`) in order. Returns the answers in the same order.
    func request(_ requests: [[Any]], atOnce: Int = 1) throws -> [Answer] {
        let server = try runningServer()
        try server.command(["do": "send", "requests": requests, "at_once": atOnce])
        let sent = try server.expect(event: "sent")
        return try #require(sent["answers"] as? [[Any]], "\(sent)").map {
            Answer(status: $0.first as? Int ?? 0, json: $0.last as? [String: Any] ?? [:])
        }
    }

    /// Returns a request of legacy HTTP for a notification.
    static func legacy(_ to: String, body: String = "hello", lifetime: Int? = nil) -> [Any] {
        var message: [String: Any] = ["to": to, "notification": ["body": body]]
        message["time_to_live"] = lifetime
        return ["POST", "/fcm/send", message]
    }

    /// Returns a request of HTTP v1 for a notification; `lifetime` 0 is for now or never.
    func v1(_ to: String, body: String = "hello", isNowOrNever: Bool = false) -> [Any] {
        var message: [String: Any] = ["token": to, "notification": ["body": body]]
        if isNowOrNever { message["apns"] = ["headers": ["apns-expiration": "0"]] }
        return ["POST", "/v1/projects/\(sender.id)/messages:send", ["message": message]]
    }

    /// Sends one notification over legacy HTTP.
    func send(_ to: String, body: String = "hello", lifetime: Int? = nil) throws -> Answer {
        try #require(try request([Self.legacy(to, body: body, lifetime: lifetime)]).first)
    }

    /// Sends one notification over HTTP v1.
    func sendV1(_ to: String, body: String = "hello", isNowOrNever: Bool = false) throws -> Answer {
        try #require(try request([v1(to, body: body, isNowOrNever: isNowOrNever)]).first)
    }

    /// The page of the feedback list after a position.
    func feedback(since: String? = nil) throws -> (items: [[String: Any]], next: String) {
        let query = since.map { "?since=\($0)" } ?? ""
        let path = "/v1/apps/\(AppleMock.bundle)/apns/feedback\(query)"
        let answer = try #require(try request([["GET", path, NSNull()]]).first)
        return (
            try #require(answer.json["items"] as? [[String: Any]], "\(answer)"),
            try #require(answer.json["next"] as? String)
        )
    }

    /// Returns a count of the messages to devices in the store, after checking that the audit holds.
    func count(_ name: String) throws -> Int {
        let audit = try daemon.ctl("audit")
        #expect(audit["holds"] as? Bool == true, "\(audit)")
        return try #require((audit["downstream"] as? [String: Any])?[name] as? Int)
    }
}
