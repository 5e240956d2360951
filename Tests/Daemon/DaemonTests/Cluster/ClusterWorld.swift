import Basics
import Client
import ClientProtocol
import Foundation
import Transport
import Wire

/// App servers and devices on all nodes of a cluster that exchange messages while its parts are killed.
///
/// It records acknowledged and received messages in both directions, and those to topics; at the end every acknowledged message must
/// have arrived. Messages have no collapse key and a long lifetime, and mailboxes stay below their cap, so none is discarded.
final class ClusterWorld {
    struct Sender {
        var id: String
        var key: String
    }

    /// How many messages may be on their way to a device: with those of unknown fate less than a mailbox takes.
    private static let underway = 20
    private static let uncertain = 50
    /// After these seconds a message of unknown fate will not arrive.
    private static let fateSeconds = 30
    /// Milliseconds after which it is shown what waits: longer than a client stays at a silent node, and than a takeover lasts.
    private static let longWait: Int64 = 8_000
    private static let longWaitElsewhere: Int64 = 3_500
    static let patience = Int(Patience.seconds)
    /// Rates are unlimited, since few devices get the whole load.
    static let flags = [
        "--device-messages-per-minute", "0", "--device-messages-per-hour", "0",
        "--device-upstream-per-minute", "0",
    ]

    let cluster: RunningCluster
    let reactor: Reactor
    var random: SeededRandom
    private(set) var devices: [ClusterDevice] = []
    private(set) var servers: [ClusterAppServer] = []
    /// How many messages an app server and a device may have without an answer.
    var serverWindow = 8
    var deviceWindow = 3
    /// Milliseconds between bursts in which the clients fill their windows: the machine does not become the bottleneck.
    var burstMilliseconds: Int64 = 40
    private var burst = Instant.distantPast
    private var nextReport = Instant.distantPast
    /// The node that a fault touches now, and the partitions whose log depends on the server of the log that it touches: NATS elects
    /// another leader in 4 to 9 s, and a replica that is behind counts for no majority.
    var touched: Int?
    var dependent: Set<Int> = []
    /// The partitions that the touched node owned before the fault.
    var moved: Set<Int> = []
    /// The longest time that an app server of another node has lately waited for an answer that needs none of those logs: by partition,
    /// of those that the touched node owned if there is one.
    var longestElsewhere: [Int: Int64] = [:]
    /// The same for an answer that needs one of those logs. `nil` if there was none.
    var longestDependent: Int64?
    private var count = 0
    /// Connections of app servers so far.
    var connections = 0
    private var pretended: Set<String> = []
    var downstream = ClusterRecord()
    var upstream = ClusterRecord()
    var topics = ClusterRecord()
    var order = ClusterOrder()
    /// The topic and the groups whose members change, and how many messages to them have arrived.
    var members: [ClusterMembers] = []
    var memberArrivals = 0
    /// Answers that are false, and messages that reached those who are no members any more.
    var violations: [String] = []
    var identity = ClusterIdentity()
    /// Logins that were refused, and answers that were not understood.
    var oddities: [String: Int] = [:]

    /// Founds a cluster with two senders, three app servers of each, and an even number of devices, spread over the nodes; or starts a
    /// daemon that is alone, with the same load.
    init(seed: UInt64, layout: ClusterLayout = .loopback, devices count: Int = 6) throws {
        random = SeededRandom(seed: seed)
        reactor = try Reactor(index: 0)
        cluster = try RunningCluster(flags: Self.flags, layout: layout)
        let senders = try (0..<2).map { at in
            let made = try cluster.addSender(at: at % cluster.count)
            return Sender(id: made.id, key: made.key)
        }
        for sender in senders {
            for node in 0..<cluster.count { try cluster.waitForSender(sender.id, at: node) }
        }
        for number in 0..<count {
            try enrol(number, senders[number % 2], at: number % cluster.count)
        }
        for sender in senders {
            for node in 0..<cluster.count {
                try cluster.waitForSubscribers(count / 2, of: "news", sender: sender.id, at: node)
            }
        }
        try makeMembers(senders)
        servers = (0..<3).flatMap { _ in senders.map { ClusterAppServer($0) } }
        for (at, client) in (servers as [ClusterClient]).enumerated() { client.node = at / 2 % cluster.count }
    }

    private func enrol(_ number: Int, _ sender: Sender, at node: Int) throws {
        let made = try DeviceEnrolment.run(
            nil, DeviceCalls.App(category: "com.example.app", sender: sender.id), reactor: reactor,
            endpoint: try endpoint("https", node))
        let device = ClusterDevice(
            number: number, sender: sender, identity: made.identity, token: made.token)
        device.node = node
        devices.append(device)
        try subscribe(device, to: "news")
    }

    func endpoint(_ name: String, _ node: Int) throws -> Endpoint {
        let daemon = try cluster.node(node)
        return try Endpoint(
            host: cluster.address(node), port: UInt16(daemon.port(name)),
            tls: TLSClientSettings(trust: .file(daemon.authority)))
    }

    /// Records a message as acknowledged that was not: for the canary.
    func pretendAcknowledged(_ id: String) {
        downstream.acknowledged.insert(id)
        pretended.insert(id)
    }

    /// The number of acknowledged messages.
    var acknowledged: Int {
        downstream.acknowledged.count + upstream.acknowledged.count + topics.acknowledged.count
    }

    // MARK: Load

    /// Exchanges messages until a condition holds, which is tested after each turn or at least after `every` milliseconds. Throws if it
    /// does not hold in time.
    func run(until what: String, every: Int64 = 0, _ isDone: () throws -> Bool) throws {
        let start = Now.read().monotonic
        var next = start
        while true {
            let now = Now.read().monotonic
            if now >= next {
                if try isDone() { return }
                next = now.advanced(milliseconds: every)
            }
            guard now.milliseconds(since: start) < Int64(Self.patience) * 1_000 else {
                throw HarnessFailure("timed out after \(Self.patience) s, waiting until \(what): \(state)")
            }
            try cluster.requireRunning()
            reportWaits(now)
            connect(now)
            changeMembers(now)
            if now >= burst {
                for _ in 0..<max(serverWindow, deviceWindow) { send(now) }
                burst = now.advanced(milliseconds: burstMilliseconds)
            }
            reactor.turn(waitMilliseconds: 1)
        }
    }

    /// Exchanges messages for a while.
    func run(milliseconds: Int) throws {
        let end = Now.read().monotonic.advanced(milliseconds: Int64(milliseconds))
        try run(until: "\(milliseconds) ms have passed") { Now.read().monotonic >= end }
    }

    /// Exchanges messages until every device has got one and sent one that were acknowledged from now on, so that all partitions work.
    func runUntilAllAnswer() throws {
        for device in devices { (device.isAnsweredDown, device.isAnsweredUp) = (false, false) }
        try run(until: "every device sends and gets messages") {
            devices.allSatisfy { $0.isAnsweredDown && $0.isAnsweredUp }
        }
    }

    /// Exchanges messages for a while, after a warm-up. Returns what it costs.
    func measure(seconds: Int) throws -> ClusterCost {
        (serverWindow, deviceWindow, burstMilliseconds) = (60, 15, 0)
        defer { (serverWindow, deviceWindow, burstMilliseconds) = (8, 3, 40) }
        try runUntilAllAnswer()
        try run(milliseconds: 2_000)
        let (before, used) = (acknowledged, try cluster.cpuSeconds())
        try run(milliseconds: seconds * 1_000)
        let messages = Double(acknowledged - before)
        return ClusterCost(
            rate: messages / Double(seconds),
            microseconds: (try cluster.cpuSeconds() - used) * 1_000_000 / max(1, messages))
    }

    /// Starts no message any more, and waits until all acknowledged ones have arrived.
    func finish() throws {
        let end = Now.read().monotonic.advanced(seconds: Self.patience)
        while !isWhole, Now.read().monotonic < end {
            connect(Now.read().monotonic)
            reactor.turn(waitMilliseconds: 5)
        }
    }

    /// Whether every acknowledged message has arrived.
    private var isWhole: Bool {
        downstream.isWhole(but: pretended) && upstream.isWhole(but: []) && topics.isWhole(but: [])
    }

    /// What was lost, in all directions, besides what was pretended.
    var lost: [String] {
        (downstream.lost + upstream.lost + topics.lost).filter { !pretended.contains($0) }
    }

    /// What is wrong besides lost messages: false answers, messages to members that were removed, IDs that change, and a
    /// wrong order.
    var wrongs: [String] { violations + order.violations(acknowledged: downstream.acknowledged) }

    /// How many messages the nodes have discarded, by the audit of the first one: each has the whole store.
    func discarded() throws -> Int {
        let audit = try cluster.node(0).ctl("audit")["downstream"] as? [String: Any]
        return audit?["discarded"] as? Int ?? -1
    }

    /// The clients in words, for failures.
    var state: String {
        let ready = servers.filter { $0.client?.isReady == true }.count
        let devices = devices.map { device in
            "\(device.number)@\(device.node + 1)\(device.client?.isReady == true ? "" : " offline")"
                + "\(device.isAnsweredDown ? "" : " not answered down")\(device.isAnsweredUp ? "" : " not answered up")"
                + " underway \(device.underway.count) (\(device.underway.count { $0.hasPrefix("t") }) to topics) uncertain \(device.uncertain.count) waiting \(device.waiting.count)"
        }
        return
            "\(ready) of \(servers.count) app servers are ready; devices: \(devices); \(acknowledged) acknowledged; refused down \(downstream.refusals) up \(upstream.refusals) topics \(topics.refusals); \(oddities)"
    }

    /// Shows from time to time what waits long.
    private func reportWaits(_ now: Instant) {
        guard now >= nextReport else { return }
        nextReport = now.advanced(milliseconds: 1_000)
        let waits = devices.flatMap { device in
            [("down", device.down), ("up", device.up)].compactMap { way, meter in
                meter.waited(now) < Self.longWait ? nil : "\(device.number) \(way) \(meter.waited(now)) ms"
            }
        }
        let late = servers.filter { server in
            server.node != touched
                && server.unanswered.values.contains {
                    now.milliseconds(since: $0.at) >= Self.longWaitElsewhere
                }
        }
        guard !waits.isEmpty || !late.isEmpty else { return }
        let waiting = late.map { server in
            "\(server.connection)@\(server.node + 1)\(server.client?.isReady == true ? "" : " offline"), silent \(now.milliseconds(since: server.heard)) ms: \(server.unanswered.map { "\($0.key) to \($0.value.device.number) \(now.milliseconds(since: $0.value.at)) ms" })"
        }
        print(
            "cluster-progress: waits \(waits), at node \(touched.map { "\($0 + 1)" } ?? "-"), \(state); app servers \(waiting)"
        )
        fflush(nil)
    }

    private func send(_ now: Instant) {
        for server in servers {
            guard let client = server.client, client.isReady, server.unanswered.count < serverWindow else {
                continue
            }
            let device = devices[Int.random(in: 0..<devices.count, using: &random)]
            guard device.sender.id == server.sender.id else { continue }
            guard hasRoom(device, now) else {
                // It gets no messages until the fate of others is known.
                if !isAwaited(device) { device.down.rest() }
                continue
            }
            count += 1
            if count % 50 == 0 {
                send("t\(count)", toTopic: "news", server, client)
            } else if count % 20 == 7, let group = members.randomElement(using: &random) {
                send("\(group.letter)\(count)", to: group, server, client)
            } else {
                send("d\(count)", device, server, client, now)
            }
        }
        for device in devices where device.client?.isReady == true && device.waiting.count < deviceWindow {
            count += 1
            let id = "u\(count)"
            var message = Upstream(
                sender: SenderID(UInt64(device.sender.id) ?? 0), category: Array("com.example.app".utf8),
                messageID: Array(id.utf8), persistentID: Array(id.utf8))
            message.data = [(Array("id".utf8), Array(id.utf8))]
            device.waiting[id] = message
            device.up.sent(now)
            device.client?.send(message)
        }
    }

    func hasRoom(_ device: ClusterDevice, _ now: Instant) -> Bool {
        if device.uncertain.count >= Self.uncertain {
            device.uncertain = device.uncertain.filter {
                now.milliseconds(since: $0.value) < Int64(Self.fateSeconds) * 1_000
            }
        }
        return device.underway.count < Self.underway && device.uncertain.count < Self.uncertain
    }

    private func send(
        _ id: String, _ device: ClusterDevice, _ server: ClusterAppServer, _ client: AppServerClient,
        _ now: Instant
    ) {
        var message = Downstream(to: Array(device.token.utf8), messageID: Array(id.utf8))
        message.data = [(Array("id".utf8), Array(id.utf8))]
        device.underway.insert(id)
        device.down.sent(now)
        order.sent(id, on: ClusterOrder.Stream(connection: server.connection, device: device.number))
        server.unanswered[id] = ClusterSent(device: device, at: now)
        client.send(message)
    }

    /// Every device of the sender gets it.
    private func send(
        _ id: String, toTopic topic: String, _ server: ClusterAppServer, _ client: AppServerClient
    ) {
        let all = devices.filter { $0.sender.id == server.sender.id }
        guard all.allSatisfy({ hasRoom($0, Now.read().monotonic) }) else { return }
        var message = Downstream(to: Array("/topics/\(topic)".utf8), messageID: Array(id.utf8))
        message.data = [(Array("id".utf8), Array(id.utf8))]
        for device in all { device.underway.insert(id) }
        server.unansweredTopics.insert(id)
        client.send(message)
    }
}
