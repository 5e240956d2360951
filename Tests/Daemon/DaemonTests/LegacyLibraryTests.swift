import Basics
import Client
import ClientProtocol
import Foundation
import Testing
import Transport

/// pyfcm 1.5.4, python-gcm 0.4 and pushjack 1.6, unmodified, with their host names redirected (http 2, 4, 12 rows c01, c02, c05).
@Suite(
    "Libraries of legacy HTTP", .serialized,
    .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct LegacyLibraryTests {
    /// The libraries and their representation of the error of one recipient.
    enum Library: String, CaseIterable {
        case pyfcm
        case pythonGCM = "python-gcm"
        case pushjack

        func word(for code: String) -> String? {
            guard self == .pushjack else { return code }
            return [
                "InvalidRegistration": "GCMInvalidRegistrationError",
                "NotRegistered": "GCMUnregisteredDeviceError",
                "MismatchSenderId": "GCMMismatchedSenderError", "MessageTooBig": "GCMMessageTooBigError",
            ][code]
        }
    }

    /// A daemon, and an app server that uses the library.
    final class Bench {
        let daemon: RunningDaemon
        let sender: String
        let key: String
        private let library: Library
        let server: Driver

        init(_ library: Library, httpsPort: Int? = nil) throws {
            daemon = try RunningDaemon()
            (sender, key) = try daemon.firstSender
            self.library = library
            server = try Self.server(library, daemon, sender, key, httpsPort)
        }

        /// Starts another app server with the same library and this key.
        func server(key: String) throws -> Driver { try Self.server(library, daemon, sender, key, nil) }

        private static func server(
            _ library: Library, _ daemon: RunningDaemon, _ sender: String, _ key: String, _ httpsPort: Int?
        ) throws -> Driver {
            try Driver(
                "legacy_libraries_server.py", [library.rawValue, sender], secret: key,
                environment: daemon.hostMap(httpsPort: httpsPort))
        }

        func device(_ app: String = "com.example.app") throws -> TestDevice {
            try TestDevice(daemon, sender: sender, app: app)
        }

        /// Returns a device that is registered with another sender.
        func outsider() throws -> TestDevice {
            let other = try #require(try daemon.ctl("senders", "add")["sender_id"] as? String)
            return try TestDevice(daemon, sender: other)
        }

        /// Sends to tokens and returns the library's result for each of them.
        func send(_ tokens: [String], _ more: [String: Any] = [:]) throws -> [[String: Any]] {
            try server.command(["do": "send", "tokens": tokens, "data": ["n": "1"]].merging(more) { $1 })
            let sent = try server.expect(event: "sent")
            let results = try #require(sent["results"] as? [[String: Any]], "\(sent)")
            #expect(results.map { $0["token"] as? String } == tokens, "\(sent)")
            return results
        }

        func plain(_ token: String, _ more: [String: Any] = [:]) throws -> [String: Any] {
            try server.command(["do": "plain", "token": token, "data": ["n": "1"]].merging(more) { $1 })
            return try server.expect(event: "sent_plain")
        }

        /// Requests a change of a group.
        func group(_ json: [String: Any]) throws -> (status: Int?, json: [String: Any]) {
            try server.command(["do": "group", "json": json])
            let answer = try server.expect(event: "grouped")
            return (answer["status"] as? Int, try #require(answer["json"] as? [String: Any], "\(answer)"))
        }

        func sendGroup(_ key: String, _ n: String) throws -> [String: Any] {
            try server.command(["do": "send_group", "key": key, "data": ["n": n]])
            let sent = try server.expect(event: "sent_group")
            return try #require(sent["answer"] as? [String: Any], "\(sent)")
        }

        /// Returns two tokens of one app on one device; the second has replaced the first.
        func replacedToken() throws -> (old: String, new: String) {
            let reactor = try Reactor(index: 0)
            let endpoint = try Endpoint(
                host: "127.0.0.1", port: UInt16(daemon.port("https")),
                tls: TLSClientSettings(trust: .file(daemon.authority)))
            var app = DeviceCalls.App(category: "com.example.app", sender: sender)
            app.instance = "one"
            let old = try DeviceEnrolment.run(nil, app, reactor: reactor, endpoint: endpoint)
            app.instance = "two"
            let new = try DeviceEnrolment.run(old.identity, app, reactor: reactor, endpoint: endpoint)
            return (old.token, new.token)
        }
    }

    @Test(
        "a library sends to one and several tokens with results in order, and a dry run sends nothing",
        arguments: Library.allCases)
    func sends(library: Library) throws {
        let bench = try Bench(library)
        let (first, second) = (try bench.device(), try bench.device())
        let one = try bench.send(
            [first.token], ["title": "N\u{E4}her \u{1F600}", "collapse_key": "k", "time_to_live": 60])
        #expect(one[0]["id"] is String && one[0]["canonical"] is NSNull, "\(one)")
        let received = try first.expectMessage { _ in true }
        #expect(received["n"] == "1" && received["gcm.notification.title"] == "N\u{E4}her \u{1F600}")

        let looked = try bench.send([first.token], ["data": ["n": "dry"], "dry_run": true])
        #expect(looked[0]["id"] as? String == (library == .pushjack ? "sent" : "fake_message_id"))

        let several = try bench.send(
            [first.token, "nonsense", second.token, "more"], ["data": ["n": "2", "\u{FC}": "\"\u{1F600}"]])
        let bad = library.word(for: "InvalidRegistration")
        #expect(several.map { $0["error"] as? String } == [nil, bad, nil, bad], "\(several)")
        #expect(several.map { $0["id"] is String } == [true, false, true, false], "\(several)")
        for device in [first, second] {
            // This is the next message, so the dry run was not delivered.
            let message = try device.expectMessage { _ in true }
            #expect(message["n"] == "2" && message["\u{FC}"] == "\"\u{1F600}", "\(message)")
        }
    }

    @Test("a library reports its own error for each refusal of a recipient", arguments: Library.allCases)
    func refusals(library: Library) throws {
        let bench = try Bench(library)
        let (device, outsider, gone) = (try bench.device(), try bench.outsider(), try bench.device())
        try gone.unregister(bench.daemon)
        let several = try bench.send(["nonsense", gone.token, device.token, outsider.token])
        let words = several.map { $0["error"] as? String }
        #expect(words[0] == library.word(for: "InvalidRegistration"), "\(several)")
        #expect(words[1] == library.word(for: "NotRegistered"), "\(several)")
        #expect(words[2] == nil && several[2]["id"] is String, "canary: a valid token")
        #expect(words[3] == library.word(for: "MismatchSenderId"), "\(several)")
        try device.expectMessage { $0["n"] == "1" }

        let large = try bench.send([device.token], ["data": ["n": String(repeating: "x", count: 4_096)]])
        #expect(large[0]["error"] as? String == library.word(for: "MessageTooBig"), "\(large)")
        let fitting = try bench.send([device.token], ["data": ["n": String(repeating: "x", count: 4_095)]])
        #expect(fitting[0]["id"] is String, "\(fitting)")
        try device.expectMessage { $0["n"]?.utf8.count == 4_095 }
    }

    @Test("a library reports its own error when the whole request is refused", arguments: Library.allCases)
    func wholeRequests(library: Library) throws {
        let bench = try Bench(library)
        let device = try bench.device()
        let request: [String: Any] = ["do": "send", "tokens": [device.token], "data": ["from": "x"]]
        try bench.server.command(request)
        let reserved = try bench.server.expect(event: "sent")
        let unauthorized = try bench.server(key: "unknown-key")
        try unauthorized.command(request.merging(["data": ["n": "1"]]) { $1 })
        let unknown = try unauthorized.expect(event: "sent")
        switch library {
        case .pyfcm:
            #expect(reserved["error"] as? String == "InvalidDataError", "\(reserved)")
            #expect(reserved["text"] as? String == "\"data\" key \"from\" is a reserved keyword\n")
            #expect(unknown["error"] as? String == "AuthenticationError", "\(unknown)")
        case .pythonGCM:
            #expect(reserved["error"] as? String == "GCMMalformedJsonException", "\(reserved)")
            #expect(unknown["error"] as? String == "GCMAuthenticationException", "\(unknown)")
        case .pushjack:
            // pushjack reports neither success nor failure for such responses.
            for answer in [reserved, unknown] {
                let result = (answer["results"] as? [[String: Any]])?.first
                #expect(result?["id"] is NSNull && result?["error"] is NSNull, "\(answer)")
            }
        }
        #expect(
            try bench.send([device.token])[0]["id"] is String, "canary: the key and the device are valid")
    }

    @Test(
        "a send to a replaced token is delivered, and the library gets the new token",
        arguments: Library.allCases
    )
    func canonical(library: Library) throws {
        let bench = try Bench(library)
        let (old, new) = try bench.replacedToken()
        let results = try bench.send(["nonsense", old, new])
        #expect(results.map { $0["canonical"] as? String } == [nil, new, nil], "\(results)")
        #expect(results.map { $0["id"] is String } == [false, true, true], "\(results)")
        if library == .pythonGCM {
            #expect(try bench.plain(old)["canonical"] as? String == new)
        }
    }

    @Test("python-gcm sends plain text, makes dry runs, and raises an exception for each error")
    func plainText() throws {
        let bench = try Bench(.pythonGCM)
        let (device, outsider, gone) = (try bench.device(), try bench.outsider(), try bench.device())
        try gone.unregister(bench.daemon)
        let looked = try bench.plain(device.token, ["data": ["n": "dry"], "dry_run": true])
        #expect(looked["error"] == nil && looked["canonical"] is NSNull, "\(looked)")
        let sent = try bench.plain(
            device.token,
            ["data": ["n": "1", "a b": "\u{E4} & = %"], "delay_while_idle": true, "time_to_live": 60])
        #expect(sent["error"] == nil && sent["canonical"] is NSNull, "\(sent)")
        let received = try device.expectMessage { _ in true }
        #expect(received["n"] == "1" && received["a b"] == "\u{E4} & = %", "\(received)")

        let refused: [(String, String)] = [
            ("nonsense", "GCMInvalidRegistrationException"), (gone.token, "GCMNotRegisteredException"),
            (outsider.token, "GCMMismatchSenderIdException"),
        ]
        for (token, name) in refused {
            let answer = try bench.plain(token)
            #expect(answer["error"] as? String == name, "\(answer)")
        }
        let large = try bench.plain(device.token, ["data": ["n": String(repeating: "x", count: 4_096)]])
        #expect(large["error"] as? String == "GCMMessageTooBigException", "\(large)")
    }

    @Test(
        "a library creates a device group and sends to it, and the group outlives its last member",
        arguments: [Library.pyfcm, .pushjack])
    func groups(library: Library) throws {
        let bench = try Bench(library)
        let (first, second) = (try bench.device(), try bench.device())
        let made = try bench.group([
            "operation": "create", "notification_key_name": "team", "registration_ids": [first.token],
        ])
        let key = try #require(made.json["notification_key"] as? String, "\(made)")
        #expect(made.status == 200 && !key.contains(":"))
        let again = try bench.group([
            "operation": "create", "notification_key_name": "team", "registration_ids": [first.token],
        ])
        #expect(again.status == 400 && again.json["error"] as? String == "notification_key already exists")
        let added = try bench.group([
            "operation": "add", "notification_key_name": "team", "notification_key": key,
            "registration_ids": [second.token],
        ])
        #expect(added.status == 200, "\(added)")

        let both = try bench.sendGroup(key, "both")
        #expect(both["success"] as? Int == 2 && both["failure"] as? Int == 0, "\(both)")
        // pyfcm collects the results; pushjack returns the response as it is.
        #expect((both["results"] as? [Any])?.isEmpty == (library == .pyfcm ? true : nil), "\(both)")
        #expect((both["multicast_ids"] as? [Any])?.isEmpty == (library == .pyfcm ? true : nil), "\(both)")
        for device in [first, second] { #expect(try device.expectMessage { _ in true }["n"] == "both") }

        try second.unregister(bench.daemon)
        let partial = try bench.sendGroup(key, "partial")
        #expect(partial["success"] as? Int == 1 && partial["failure"] as? Int == 1, "\(partial)")
        try first.expectMessage { $0["n"] == "partial" }

        for token in [second.token, first.token] {
            let removed = try bench.group([
                "operation": "remove", "notification_key": key, "registration_ids": [token],
            ])
            // The failed send has removed the expired token from the group; removing it again is not an error.
            #expect(removed.status == 200, "\(removed)")
        }
        let none = try bench.sendGroup(key, "none")
        #expect(none["success"] as? Int == 0 && none["failure"] as? Int == 0, "\(none)")
        let anew = try bench.group([
            "operation": "create", "notification_key_name": "team", "registration_ids": [first.token],
        ])
        #expect(anew.status == 200, "the group name is free again: \(anew)")
        let fresh = try #require(anew.json["notification_key"] as? String)
        #expect(try bench.sendGroup(fresh, "anew")["success"] as? Int == 1)
        try first.expectMessage { $0["n"] == "anew" }
    }

    @Test(
        "results are in order when a request has the largest number of tokens, or pyfcm splits it in two",
        arguments: Library.allCases)
    func many(library: Library) throws {
        let bench = try Bench(library)
        let device = try bench.device()
        // pushjack would make its second request invalid: both `to` and `registration_ids` (http 12, row c05).
        let count = Limits.HTTP.recipientsPerRequest + (library == .pyfcm ? 1 : 0)
        let bad = (0..<count - 2).map { "nonsense-\($0)" }
        // Results by token need distinct tokens.
        let other = try bench.device()
        let results = try bench.send([device.token] + bad + [other.token])
        let errors = results.map { $0["error"] as? String }
        let word = library.word(for: "InvalidRegistration")
        #expect(
            errors == [nil] + Array(repeating: word, count: bad.count) + [nil],
            "the \(results.count) results are out of order")
        for device in [device, other] { try device.expectMessage { $0["n"] == "1" } }
    }

    @Test("python-gcm takes a group whose members are all gone for a success, and a deleted one for an error")
    func groupGone() throws {
        let bench = try Bench(.pythonGCM)
        let device = try bench.device()
        let made = try bench.group([
            "operation": "create", "notification_key_name": "gone", "registration_ids": [device.token],
        ])
        let key = try #require(made.json["notification_key"] as? String, "\(made)")
        try device.unregister(bench.daemon)
        let sent = try bench.plain(key, ["retries": 1])
        #expect(sent["event"] as? String == "sent_plain" && sent["error"] == nil, "\(sent)")
        // A removal from a group without members deletes it; the send may still remove the member.
        try eventually("the group is deleted") {
            _ = try bench.group([
                "operation": "remove", "notification_key_name": "gone", "notification_key": key,
                "registration_ids": [device.token],
            ])
            return try bench.plain(key, ["retries": 1])["error"] as? String == "GCMNotRegisteredException"
        }
    }

    @Test("canary: the library does not reach the daemon when its host names are not redirected")
    func canary() throws {
        let bench = try Bench(.pythonGCM, httpsPort: 1)
        try bench.server.command(["do": "send", "tokens": ["nonsense"], "data": ["n": "1"]])
        #expect(try bench.server.expect(event: "sent")["error"] as? String == "ConnectionError")
    }
}
