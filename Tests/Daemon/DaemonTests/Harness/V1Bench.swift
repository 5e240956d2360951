import Foundation
import Testing

/// A library for HTTP v1 in a pinned release.
enum V1Library: String, CaseIterable, CustomTestStringConvertible {
    case firebaseAdmin = "firebase-admin 7.7"
    case firebaseAdmin6 = "firebase-admin 6.9"
    case pyfcm = "pyfcm 2.1"
    case asyncFirebase = "async-firebase 6.4"

    var testDescription: String { rawValue }

    /// The name of the library for `v1_libraries_server.py`.
    var name: String { String(rawValue.prefix { $0 != " " }) }

    /// The Python installation that has the library.
    var python: URL { self == .firebaseAdmin ? TestPaths.python : TestPaths.pythonV1 }

    /// Whether the library can send to a Firebase installation ID in place of a token.
    var namesInstallations: Bool { self == .firebaseAdmin || self == .asyncFirebase }

    /// A pair of calls that change the topics of many tokens: by requests of HTTP v1, or by one request of Instance ID.
    struct Subscribing {
        var subscribe: String
        var unsubscribe: String
        var isV1: Bool
    }

    /// The library's calls that send many messages.
    var callsForMany: [String] {
        switch self {
        case .firebaseAdmin:
            [
                "send_each", "send_each_async", "send_each_for_multicast", "send_each_for_multicast_async",
            ]
        // The first two send one request to `/batch`.
        case .firebaseAdmin6: ["send_all", "send_multicast", "send_each"]
        case .pyfcm: ["async_notify_multiple_devices"]
        case .asyncFirebase: ["send_each", "send_each over HTTP/2", "send_each_for_multicast"]
        }
    }

    /// The library's calls that subscribe.
    var callsForTopics: [Subscribing] {
        let (v1, old) = ("subscribe_to_topic", "unsubscribe_from_topic")
        switch self {
        case .firebaseAdmin:
            return [
                Subscribing(subscribe: v1, unsubscribe: old, isV1: true),
                Subscribing(subscribe: v1 + "_async", unsubscribe: old + "_async", isV1: true),
                Subscribing(subscribe: v1 + "_legacy", unsubscribe: old + "_legacy", isV1: false),
            ]
        case .firebaseAdmin6: return [Subscribing(subscribe: v1, unsubscribe: old, isV1: false)]
        case .pyfcm: return []
        case .asyncFirebase:
            return [
                Subscribing(subscribe: v1, unsubscribe: old, isV1: true),
                Subscribing(
                    subscribe: "subscribe_devices_to_topic", unsubscribe: "unsubscribe_devices_from_topic",
                    isV1: false),
            ]
        }
    }

    /// The reason why a message was refused.
    enum Fault {
        case invalid
        case senderMismatch
        case unregistered
    }

    /// Returns the library's exception for a refusal.
    func exception(for fault: Fault) -> String {
        switch (self, fault) {
        case (.pyfcm, .invalid): "InvalidDataError"
        case (.pyfcm, .senderMismatch): "FCMSenderIdMismatchError"
        case (.pyfcm, .unregistered): "FCMNotRegisteredError"
        case (_, .invalid): "InvalidArgumentError"
        case (_, .senderMismatch): "SenderIdMismatchError"
        case (_, .unregistered): "UnregisteredError"
        }
    }

    /// Returns the library's report of a refusal in a call for many messages; pyfcm returns the server's status.
    func wordAmongMany(for fault: Fault) -> String {
        guard self == .pyfcm else { return exception(for: fault) }
        switch fault {
        case .invalid: return "INVALID_ARGUMENT"
        case .senderMismatch: return "PERMISSION_DENIED"
        case .unregistered: return "NOT_FOUND"
        }
    }
}

/// A daemon, a service account, and an app server that uses a library with the account's key file.
final class V1Bench {
    let daemon: RunningDaemon
    let library: V1Library
    let sender: String
    let account: [String: Any]
    let server: Driver

    init(
        _ library: V1Library, project: String? = nil, httpsPort: Int? = nil, flags: [String] = []
    ) throws {
        self.library = library
        daemon = try RunningDaemon(flags: flags)
        sender = try daemon.firstSender.id
        let keyFile = daemon.directory.appendingPathComponent("key.json").path
        account = try daemon.ctl("service-accounts", "add", sender, "--out", keyFile)
        server = try Driver(
            "v1_libraries_server.py", [library.name, keyFile] + (project.map { [$0] } ?? []),
            environment: daemon.hostMap(httpsPort: httpsPort), python: library.python)
        try server.expect(event: "ready")
    }

    func device(_ app: String = "com.example.app", instance: String? = nil) throws -> TestDevice {
        try TestDevice(daemon, sender: sender, app: app, instance: instance)
    }

    /// Returns a device that is registered with another sender.
    func outsider(instance: String? = nil) throws -> TestDevice {
        let other = try #require(try daemon.ctl("senders", "add")["sender_id"] as? String)
        return try TestDevice(daemon, sender: other, instance: instance)
    }

    func send(_ token: String, _ more: [String: Any] = [:]) throws -> [String: Any] {
        try send(to: "token", token, more)
    }

    /// Sends to a `token`, a `topic`, a `condition` or a `fid` (an installation ID).
    func send(to kind: String, _ target: String, _ more: [String: Any] = [:]) throws -> [String: Any] {
        try server.command(["do": "send", kind: target, "data": ["n": "1"]].merging(more) { $1 })
        return try server.expect(event: "sent")
    }

    /// Sends with a call for many messages. Returns the library's result for each token.
    func send(_ tokens: [String], by call: String, n: String) throws -> [[String: Any]] {
        try server.command(["do": "send_many", "how": call, "tokens": tokens, "data": ["n": n]])
        let sent = try server.expect(event: "sent_many")
        return try #require(sent["results"] as? [[String: Any]], "\(sent)")
    }

    /// Subscribes or unsubscribes tokens.
    func manage(_ tokens: [String], topic: String, by call: String) throws -> [String: Any] {
        try server.command(["do": "manage", "how": call, "tokens": tokens, "topic": topic])
        return try server.expect(event: "managed")
    }
}
