import Basics
import Transport

/// A started server of a comparison.
protocol Competitor: AnyObject {
    var server: any Server { get }
    /// Logs in receivers with the given numbers, which are sent no messages.
    func crowd(_ numbers: Range<Int>) throws(BenchError) -> Receivers
    /// Connects a load.
    func load(_ contestant: Contestant) throws(BenchError) -> LoadRun
}

/// The relay or ccsd: app servers and devices.
final class TargetCompetitor: Competitor {
    private let bench: Bench
    private let target: any Target
    private let devices: [BenchDevice]
    private let pairs: Int
    /// The devices that all loads send to; each may be logged in only once.
    private var receivers: Receivers?
    /// The app servers that receive upstream messages, kept alive as long as the load.
    private var upstream: UpstreamReceivers?
    var server: any Server { target }

    /// Creates `count` devices, of which `pairs` are used by loads.
    init(_ bench: Bench, _ target: any Target, devices count: Int, pairs: Int) throws(BenchError) {
        self.bench = bench
        self.target = target
        self.pairs = pairs
        devices = try bench.devices(target, count)
        bench.progress.clear()
        // Otherwise the connections would reuse memory that the enrolment left free.
        try (target as? DaemonTarget)?.restart()
    }

    func crowd(_ numbers: Range<Int>) throws(BenchError) -> Receivers {
        try Receivers(bench, target, Array(devices[numbers]))
    }

    func load(_ contestant: Contestant) throws(BenchError) -> LoadRun {
        let own = Array(devices.prefix(pairs))
        if contestant == .ccsdUp, let target = target as? DaemonTarget {
            // Other devices than the receivers, which also send: they acknowledge what they receive.
            let others = try target.makeDevices(pairs) { _ in }
            let (run, receivers) = try bench.upstream(target, others, name: contestant.rawValue)
            upstream = receivers
            return run
        }
        if receivers == nil { receivers = try Receivers(bench, target, own) }
        return try bench.appServers(
            target, own, receivers, name: contestant.rawValue,
            lifetimeSeconds: contestant == .ccsdDown ? Bench.lifetime : 0)
    }
}

/// Another server: each sender has its own receiver.
final class PairCompetitor: Competitor {
    private let bench: Bench
    private let process: PeerProcess
    private let pairs: Int
    var server: any Server { process }

    init(_ bench: Bench, _ process: PeerProcess, pairs: Int) {
        self.bench = bench
        self.process = process
        self.pairs = pairs
    }

    func crowd(_ numbers: Range<Int>) throws(BenchError) -> Receivers {
        try Receivers(bench, process, numbers.count, "receivers") { (at, receivers) throws(BenchError) in
            let at = numbers.lowerBound + at
            switch host {
            case .mosquitto:
                let talk = SubscriberTalk(client: "idle\(at)", topic: "idle/\(at)", quality: 1)
                return try connect(Receiver(receivers, talk))
            case .nats: return try connect(Receiver(receivers, NATSSubscriberTalk(subject: "idle.\(at)")))
            default:
                let talk = StanzaReceiverTalk(credential(at, "idle"), receiptsTo: nil)
                return try connect(Receiver(receivers, talk))
            }
        }
    }

    func load(_ contestant: Contestant) throws(BenchError) -> LoadRun {
        switch contestant {
        case .mosquitto0: try packets(contestant, quality: 0)
        case .mosquitto1: try packets(contestant, quality: 1)
        case .nats:
            try pair(
                contestant, receiver: { NATSSubscriberTalk(subject: "bench.\($0)") },
                sender: { _ in NATSPublisherTalk() },
                message: { .publication(subject: "bench.\($0)", size: bench.size) }, answersByArrival: true)
        case .ejabberdCount, .prosodyCount: try stanzas(contestant, .count)
        case .ejabberdReceipt, .prosodyReceipt: try stanzas(contestant, .receipt)
        default: throw BenchError("\(process.name) does not support the load \(contestant.rawValue)")
        }
    }

    private var host: Contestant.Host? { Contestant.Host(rawValue: process.name) }

    private func packets(_ contestant: Contestant, quality: UInt8) throws(BenchError) -> LoadRun {
        let name = contestant.rawValue
        return try pair(
            contestant,
            receiver: { SubscriberTalk(client: "\(name)-r\($0)", topic: "\(name)/\($0)", quality: quality) },
            sender: { PublisherTalk(client: "\(name)-s\($0)") },
            message: {
                .packet(topic: "\(name)/\($0)", size: bench.size, hasIdentifier: quality > 0)
            }, answersByArrival: quality == 0)
    }

    private func stanzas(_ contestant: Contestant, _ answer: StanzaAnswer) throws(BenchError) -> LoadRun {
        let name = contestant.rawValue
        let user = { (number: Int) in "\(PeerServers.user(number))@localhost/\(name)" }
        // In each pair the even account sends and the odd one receives.
        return try pair(
            contestant,
            receiver: {
                StanzaReceiverTalk(
                    credential(2 * $0 + 1, name), receiptsTo: answer == .receipt ? user(2 * $0) : nil)
            },
            sender: { StanzaTalk(credential(2 * $0, name), answer) },
            message: { .chat(to: user(2 * $0 + 1), size: bench.size) }, answersByArrival: false)
    }

    /// Connects receivers, then a sender for each.
    private func pair<R: ReceiverTalk, S: SenderTalk>(
        _ contestant: Contestant, receiver: (Int) -> R, sender: (Int) -> S, message: (Int) -> Template,
        answersByArrival: Bool
    ) throws(BenchError) -> LoadRun {
        var made: [Receiver<R>] = []
        let receivers = try Receivers(bench, process, pairs, "receivers") {
            (at, receivers) throws(BenchError) in
            let one = Receiver(receivers, receiver(at))
            made.append(one)
            return try connect(one)
        }
        let run = LoadRun(bench, process, name: contestant.rawValue, receivers: receivers)
        try run.connect(pairs, "senders") { (at, run) throws(BenchError) in
            let lane = SendingLane(run, sender(at), messages: [message(at)], window: bench.window)
            if answersByArrival {
                made[at].onArrival = { [weak lane] count, now in lane?.arrived(count, now: now) }
            }
            return try connect(lane)
        }
        return run
    }

    private func connect<Owner: ConnectionDelegate>(_ owner: Owner) throws(BenchError) -> Owner {
        if host == .nats {
            try process.connectAfterGreeting(bench, owner)
        } else {
            try bench.connect(to: process.address, owner)
        }
        return owner
    }

    private func credential(_ number: Int, _ resource: String) -> StreamCredential {
        StreamCredential(
            user: PeerServers.user(number), domain: "localhost", password: PeerServers.password,
            resource: resource)
    }
}
