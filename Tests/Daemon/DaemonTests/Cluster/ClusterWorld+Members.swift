import Basics
import Client
import ClientProtocol
import Foundation
import Transport
import Wire

/// A topic, or a group of each sender, of which one device after the other is removed and joins again, at any node.
final class ClusterMembers {
    enum Kind {
        case topic(String)
        /// The notification keys by sender.
        case group([String: String])
    }

    /// How long a device is away at least, and how long a change waits for its answer. One that has none may take effect later: until
    /// then the device is not changed back.
    fileprivate static let away: Int64 = 3_000
    fileprivate static let answer: Int64 = 8_000
    fileprivate static let fate: Int64 = 30_000

    let kind: Kind
    /// The letter with which the IDs of its messages begin.
    let letter: String
    var members: [Int: ClusterMembership] = [:]
    fileprivate var device = 0
    fileprivate var joins = false
    fileprivate var next = Instant.distantPast
    /// Whether an attempt of this change has no answer.
    fileprivate var isUncertain = false
    fileprivate var call: (client: HTTPClient, deadline: Instant, number: Int)?
    fileprivate var calls = 0
    /// Changes that were acknowledged.
    fileprivate(set) var changes = 0

    init(_ kind: Kind, letter: String, devices: Int) {
        (self.kind, self.letter) = (kind, letter)
        for number in 0..<devices { members[number] = ClusterMembership() }
    }

    /// The address of a message to all members of a sender.
    func address(_ sender: String) -> String {
        switch kind {
        case .topic(let name): "/topics/\(name)"
        case .group(let keys): keys[sender] ?? ""
        }
    }
}

extension ClusterWorld {
    private static let app = "com.example.app"
    /// How many messages of unknown fate a device may have when one is sent to all members.
    private static let uncertainMembers = 10

    /// Subscribes all devices to a topic, and makes a group of those of each sender.
    func makeMembers(_ senders: [Sender]) throws {
        for device in devices { try subscribe(device, to: "flip") }
        var keys: [String: String] = [:]
        for sender in senders {
            let tokens = devices.filter { $0.sender.id == sender.id }.map { "\"\($0.token)\"" }
            let made = try answer(
                groupCall(
                    "\"operation\":\"create\",\"notification_key_name\":\"all\",\"registration_ids\":[\(tokens.joined(separator: ","))]",
                    sender), at: 0)
            guard let key = try? JSONValue(parsing: made.body.raw)["notification_key"]?.text else {
                throw HarnessFailure("no group was made: \(made.text)")
            }
            keys[sender.id] = key
        }
        members = [
            ClusterMembers(.topic("flip"), letter: "f", devices: devices.count),
            ClusterMembers(.group(keys), letter: "g", devices: devices.count),
        ]
    }

    /// Subscribes a device to a topic, at its node.
    func subscribe(_ device: ClusterDevice, to topic: String) throws {
        let answer = try answer(topicCall(topic, device, isEnd: false), at: device.node)
        guard (try? DeviceCalls.token(answer)) == device.token else {
            throw HarnessFailure("device \(device.number) could not subscribe to \(topic): \(answer.text)")
        }
    }

    private func answer(_ call: HTTPCall, at node: Int) throws -> HTTPAnswer {
        let client = HTTPClient(reactor: reactor, endpoint: try endpoint("https", node))
        defer { client.close() }
        return try client.answer(to: call, seconds: Self.patience)
    }

    private func topicCall(_ name: String, _ device: ClusterDevice, isEnd: Bool) -> HTTPCall {
        DeviceCalls.topic(
            name, token: device.token, isEnd: isEnd,
            DeviceCalls.App(category: Self.app, sender: device.sender.id), device.identity)
    }

    private func groupCall(_ fields: String, _ sender: Sender) -> HTTPCall {
        var call = HTTPCall("POST", "/fcm/notification")
        call.add("Content-Type", "application/json")
        call.add("project_id", sender.id)
        call.headers.append(("Authorization", Redacted("key=\(sender.key)")))
        call.body = Array("{\(fields)}".utf8)
        return call
    }

    // MARK: Changes

    /// Begins and repeats changes of members.
    func changeMembers(_ now: Instant) {
        for group in members {
            if let call = group.call {
                guard call.deadline <= now else { continue }
                call.client.close()
                unanswered(group, now)
            } else if group.next <= now {
                begin(group, now)
            }
        }
    }

    private func begin(_ group: ClusterMembers, _ now: Instant) {
        let device = devices[group.device]
        let node = Int.random(in: 0..<cluster.count, using: &random)
        guard let endpoint = try? endpoint("https", node) else {
            return group.next = now.advanced(milliseconds: 200)
        }
        group.members[group.device]?.begin(joins: group.joins)
        let call =
            switch group.kind {
            case .topic(let name): topicCall(name, device, isEnd: !group.joins)
            case .group(let keys):
                groupCall(
                    "\"operation\":\"\(group.joins ? "add" : "remove")\",\"notification_key_name\":\"all\",\"notification_key\":\"\(keys[device.sender.id] ?? "")\",\"registration_ids\":[\"\(device.token)\"]",
                    device.sender)
            }
        let client = HTTPClient(reactor: reactor, endpoint: endpoint)
        group.calls += 1
        let number = group.calls
        group.call = (client, now.advanced(milliseconds: ClusterMembers.answer), number)
        client.send(call) { [unowned self, unowned group] result in
            guard group.call?.number == number else { return }
            self.changed(group, result, Now.read().monotonic)
        }
    }

    private func changed(
        _ group: ClusterMembers, _ result: Result<HTTPAnswer, ClientError>, _ now: Instant
    ) {
        guard let answer = try? result.get(), answer.status < 500,
            !answer.text.contains("SERVICE_NOT_AVAILABLE")
        else { return unanswered(group, now) }
        let isDone = answer.status == 200 && !answer.text.hasPrefix("Error=")
        // What an attempt without an answer has done need not be possible again.
        if !isDone, !group.isUncertain {
            violations.append(
                "answer: \(group.letter) joins \(group.joins): \(answer.status) \(answer.text.prefix(200))")
        }
        group.members[group.device]?.end(joined: group.joins)
        group.changes += 1
        group.next = now.advanced(milliseconds: group.isUncertain ? ClusterMembers.fate : ClusterMembers.away)
        group.call = nil
        group.isUncertain = false
        if group.joins { group.device = (group.device + 1) % devices.count }
        group.joins.toggle()
    }

    private func unanswered(_ group: ClusterMembers, _ now: Instant) {
        group.call = nil
        group.isUncertain = true
        group.next = now.advanced(milliseconds: 500)
    }

    // MARK: Messages

    /// Sends a message to all members of an app server's sender.
    func send(_ id: String, to group: ClusterMembers, _ server: ClusterAppServer, _ client: AppServerClient) {
        let now = Now.read().monotonic
        let all = devices.filter { $0.sender.id == server.sender.id }
        // Few, so that a mailbox has room for all others: what is sent to members that leave meanwhile does not arrive.
        guard all.allSatisfy({ hasRoom($0, now) && $0.uncertain.count < Self.uncertainMembers }) else {
            return
        }
        var message = Downstream(to: Array(group.address(server.sender.id).utf8), messageID: Array(id.utf8))
        message.data = [(Array("id".utf8), Array(id.utf8))]
        for device in all {
            group.members[device.number]?.sent(id)
            if group.members[device.number]?.state != .removed { device.uncertain[id] = now }
        }
        server.unansweredTopics.insert(id)
        client.send(message)
    }

    /// A message to members has arrived at a device.
    func arrived(_ id: String, at device: ClusterDevice) {
        for group in members where id.hasPrefix(group.letter) {
            memberArrivals += 1
            if group.members[device.number]?.isForbidden(id) == true {
                violations.append("membership: \(id) at device \(device.number), which was removed before")
            }
        }
    }
}
