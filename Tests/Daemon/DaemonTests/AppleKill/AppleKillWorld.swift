import Basics
import Client
import ClientProtocol
import Foundation
import Transport

/// App servers that send to iOS apps, while Apple fails in all ways and the daemon is killed and restarted.
///
/// All that happens depends on the number of messages that Apple has settled, and not on time.
final class AppleKillWorld {
    private static let patience = Int(Patience.seconds)
    /// Messages of one app server without an answer: its window is 100.
    private static let window = 90
    /// Messages for one device that are not settled. Several kills in a row may leave as many unanswered ones in its mailbox, which holds
    /// 100.
    private static let openPerDevice = 20

    private let plan: AppleKillPlan
    private let bench: AppleBench
    private let log: AppleLog
    private let reactor: Reactor
    private var random: SeededRandom
    private var devices: [(device: String, token: String)] = []
    private var servers: [AppServerClient] = []
    private var outage: (kind: AppleOutage, ends: Instant)?
    /// Events of the log, for the deadline of a world without progress.
    private var events = 0
    private var isKilled = false
    private var failure: String?
    private(set) var record = AppleRecord()
    private(set) var outages: [AppleOutage: Int] = [:]
    private(set) var kills = 0

    init(_ plan: AppleKillPlan) throws {
        self.plan = plan
        random = SeededRandom(seed: plan.seed)
        reactor = try Reactor(index: 0)
        bench = try AppleBench(AppleMock(plan.mockOptions), flags: ["--ios-data-only", "silent"])
        log = try AppleLog(bench.apple.log)
        let names = (0..<plan.devices).map { AppleBench.deviceToken("00", $0) }
        devices = Array(zip(names, try bench.register(names)).map { (device: $0, token: $1) })
        try connect()
    }

    // MARK: The course of a run

    /// Sends all messages, with outages and kills between them.
    func run() throws {
        let parts = plan.kills + 1
        for part in 0..<parts {
            let start = plan.messages * part / parts
            let end = plan.messages * (part + 1) / parts
            let width = max(1, end - start)
            let moments = (0..<plan.outages).map { _ in start + Int.random(in: 0..<width, using: &random) }
            for moment in moments.sorted() {
                try exchange("an outage") { record.settled >= moment || isSent }
                try beginOutage()
            }
            // What was not accepted when the daemon was killed is not sent again, so not all need be settled.
            try exchange("a part is settled") { record.settled >= end || isSent }
            if part < plan.kills { try kill() }
        }
        try finish()
    }

    private var isSent: Bool { record.sent >= plan.messages }

    /// Kills the daemon, in an outage or while Apple works, and starts it again before or after the end of the outage.
    private func kill() throws {
        try endOutage()
        if Bool.random(using: &random) {
            try beginOutage(forever: true)
            try exchange("messages wait") { record.waiting >= plan.waitingAtKill || isSent }
        }
        let moment = Now.read().monotonic.advanced(milliseconds: Int64.random(in: 0...200, using: &random))
        try exchange("the moment of a kill") { Now.read().monotonic >= moment }
        // It alternates between one and two reactors: what is stored must not depend on their number.
        try bench.restart(reactors: 1 + kills % 2) {
            kills += 1
            isKilled = true
            // The last answers are still to be read.
            _ = reactor.turn(seconds: Self.patience) { servers.allSatisfy { !$0.isConnected } }
            servers.removeAll()
            isKilled = false
            try readLog()
            record.killDaemon()
            if Bool.random(using: &random) { try endOutage() }
        }
        try connect()
        try endOutage()
    }

    /// Waits until all messages are answered, and none is left in the store.
    private func finish() throws {
        try endOutage()
        try exchange("the store is empty") { try isSent && outstanding == 0 && pending() == 0 }
        try readLog()
    }

    /// Messages that the daemon has neither accepted nor refused.
    private var outstanding: Int { servers.reduce(0) { $0 + $1.outstanding } }

    private func pending() throws -> Int {
        _ = reactor.turn(seconds: 1) { false }
        return try bench.count("pending")
    }

    /// Returns a count of the daemon's audit, which must hold.
    func audit(_ name: String) throws -> Int { try bench.count(name) }

    // MARK: Outages

    private func beginOutage(forever: Bool = false) throws {
        try endOutage()
        guard let kind = AppleOutage.allCases.randomElement(using: &random) else { return }
        outages[kind, default: 0] += 1
        // Most are short; one in four may be as long as the plan allows.
        let longest = Int.random(in: 0..<4, using: &random) == 0 ? plan.outageMilliseconds : 500
        let length = forever ? Int64(Self.patience) * 1_000 : Int64.random(in: 0...longest, using: &random)
        try kind.begin(bench.apple)
        outage = (kind, Now.read().monotonic.advanced(milliseconds: length))
    }

    private func endOutage() throws {
        guard let (kind, _) = outage else { return }
        outage = nil
        try kind.end(bench.apple)
    }

    // MARK: Load

    private func connect() throws {
        let endpoint = try Endpoint(
            host: "127.0.0.1", port: UInt16(bench.daemon.port("app_server")),
            tls: TLSClientSettings(trust: .file(bench.daemon.authority)))
        let login = AppServerLogin(
            sender: SenderID(UInt64(bench.sender.id) ?? 0), key: Redacted(Array(bench.sender.key.utf8)))
        for _ in 0..<plan.servers {
            let client = AppServerClient(reactor: reactor, endpoint: endpoint, login: login)
            client.onEvent = { [unowned self] _, event, _ in handle(event) }
            try client.connect()
            servers.append(client)
        }
        guard reactor.turn(seconds: Self.patience, until: { servers.allSatisfy(\.isReady) }) else {
            throw HarnessFailure("not all app servers could log in: \(bench.daemon.words.suffix(1_000))")
        }
    }

    /// Sends messages and reads Apple's log until a condition holds. Throws `HarnessFailure` if nothing happens any more.
    private func exchange(_ what: String, until isDone: () throws -> Bool) throws {
        var (seen, since) = (events, Now.read().monotonic)
        while try !isDone() {
            send()
            reactor.turn(waitMilliseconds: 1)
            try readLog()
            let now = Now.read().monotonic
            if let outage, outage.ends <= now { try endOutage() }
            if events != seen { (seen, since) = (events, now) }
            guard failure == nil, since.advanced(seconds: Int(Tool.bound)) > now else {
                throw HarnessFailure(
                    "seed \(plan.seed), waiting until \(what), \(failure ?? "nothing happens any more"): \(record.sent) sent, \(record.settled) settled, \(record.waiting) waiting: \(bench.daemon.words.suffix(2_000))"
                )
            }
        }
    }

    private func send() {
        for (at, server) in servers.enumerated() where server.isReady {
            // The messages for a device come over one connection: only those have an order.
            var tries = Self.window
            while server.outstanding < Self.window, tries > 0, !isSent,
                record.waiting + outstanding < plan.backlog
            {
                tries -= 1
                let (device, token) = devices[ownDevice(at)]
                guard record.open(of: device) < Self.openPerDevice else { continue }
                let number = Array("\(record.send(to: device))".utf8)
                var message = Downstream(to: Array(token.utf8), messageID: number)
                message.data = [(Array("n".utf8), number)]
                server.send(message)
            }
        }
    }

    private func ownDevice(_ server: Int) -> Int {
        let own = (devices.count - server + plan.servers - 1) / plan.servers
        return server + plan.servers * Int.random(in: 0..<own, using: &random)
    }

    private func handle(_ event: AppServerEvent) {
        switch event {
        case .acknowledged(let id, _): record.accept(number(id))
        case .refused(let id, let error, _): record.refuse(number(id), error)
        case .ready: break
        case .closed where isKilled: break
        default: failure = "\(event)"
        }
    }

    private func number(_ id: [UInt8]) -> Int { Int(String(decoding: id, as: UTF8.self)) ?? 0 }

    private func readLog() throws {
        for event in try log.next() {
            events += 1
            record.read(event)
        }
    }
}
