import Basics
import Wire

/// All contestants of a comparison: started together, measured in turns.
final class CompareRun {
    /// The cost of a login at one server, and of an idle connection.
    struct Login {
        var microseconds: [Double] = []
        var idleKiB = 0.0
    }

    private let bench: Bench
    let contestants: [Contestant]
    private var competitors: [Contestant.Host: any Competitor] = [:]
    private var loads: [LoadRun] = []
    /// Results with full windows, in the order of the contestants, for each round.
    private(set) var closed: [[LoadResult]]
    /// Results at half of that rate.
    private(set) var half: [[LoadResult]]
    private(set) var logins: [Contestant.Host: Login] = [:]

    /// Starts the servers of all contestants, with `pairs` connections of each load and room for a crowd of `crowd`.
    init(_ bench: Bench, _ contestants: [Contestant], pairs: Int, crowd: Int) throws(BenchError) {
        self.bench = bench
        self.contestants = contestants
        closed = contestants.map { _ in [] }
        half = contestants.map { _ in [] }
        for host in Contestant.Host.allCases where contestants.contains(where: { $0.host == host }) {
            bench.progress.show(
                "starting \(host.rawValue)", competitors.count, of: Contestant.Host.allCases.count)
            competitors[host] = try Self.start(bench, host, pairs: pairs, crowd: crowd)
        }
        bench.progress.clear()
    }

    private static func start(
        _ bench: Bench, _ host: Contestant.Host, pairs: Int, crowd: Int
    ) throws(BenchError) -> any Competitor {
        let devices = max(pairs, crowd + early)
        let accounts = max(2 * pairs, crowd + early)
        let process: PeerProcess
        switch host {
        case .relay, .relayPlain:
            let relay = try RelayTarget(
                bench, host == .relayPlain ? .plainReads : nil, name: host.rawValue)
            return try TargetCompetitor(bench, relay, devices: devices, pairs: pairs)
        case .ccsd:
            return try TargetCompetitor(
                bench, try DaemonTarget(bench, reactors: bench.reactors), devices: devices, pairs: pairs)
        case .mosquitto: process = try PeerServers.mosquitto(bench)
        case .nats: process = try PeerServers.nats(bench)
        case .ejabberd: process = try PeerServers.ejabberd(bench, accounts: accounts)
        case .prosody: process = try PeerServers.prosody(bench, accounts: accounts)
        }
        return PairCompetitor(bench, process, pairs: pairs)
    }

    /// Logs a crowd in at each server in turn, `rounds` times, and measures the memory of its idle connections.
    func measureLogins(_ crowd: Int, rounds: Int) throws(BenchError) {
        for round in 0..<rounds {
            for host in Contestant.Host.allCases {
                guard let competitor = competitors[host] else { continue }
                try measureLogins(competitor, crowd, isFirst: round == 0, &logins[host, default: Login()])
            }
        }
        bench.progress.clear()
    }

    private func measureLogins(
        _ competitor: any Competitor, _ crowd: Int, isFirst: Bool, _ login: inout Login
    ) throws(BenchError) {
        let server = competitor.server
        bench.separate(server)
        let probe = ProcessProbe(process: server.process)
        // These make the server load what the first login loads, and stay connected: their memory is not reused by the crowd.
        let early = try competitor.crowd(0..<Self.early)
        bench.run(milliseconds: Self.settleMilliseconds, "idle at \(server.name)")
        let before = (resident: probe.residentKiB, cpu: probe.cpuNanoseconds)
        let receivers = try competitor.crowd(Self.early..<crowd + Self.early)
        login.microseconds.append(Double(probe.cpuNanoseconds - before.cpu) / 1_000 / Double(crowd))
        if isFirst {
            // Later crowds reuse the memory of the first one.
            bench.run(milliseconds: Self.restMilliseconds, "idle at \(server.name)")
            login.idleKiB = Double(probe.residentKiB - before.resident) / Double(crowd)
        }
        for crowd in [early, receivers] {
            crowd.leave(bench)
            guard crowd.counters.failures.isEmpty else {
                throw BenchError("\(server.name) closed connections: \(crowd.counters.failures)")
            }
        }
    }

    /// Connections made before a crowd.
    static let early = 50
    /// Milliseconds until work started by logins is done.
    private static let settleMilliseconds: Int64 = 500
    /// Milliseconds until buffers are freed.
    private static let restMilliseconds: Int64 = 3_000

    /// Connects all loads.
    func connect() throws(BenchError) {
        for contestant in contestants {
            guard let competitor = competitors[contestant.host] else { continue }
            loads.append(try competitor.load(contestant))
        }
    }

    /// Measures each contestant once with full windows, and, if requested, once at half of that rate; calls `progress` with
    /// each result.
    func measure(seconds: Int, half wantsHalf: Bool, _ progress: (LoadResult) -> Void) throws(BenchError) {
        for (at, load) in loads.enumerated() {
            let result = try load.measure(seconds: seconds)
            progress(result)
            guard load.counters.delivered > 0 else { throw load.failed("no messages arrived") }
            closed[at].append(result)
            guard wantsHalf else { continue }
            let halfResult = try load.measure(seconds: seconds, .rate(max(1, result.rate / 2)))
            progress(halfResult)
            half[at].append(halfResult)
        }
    }

    /// Returns latency against load for each contestant, at shares of its maximum rate.
    func curves(seconds: Int, shares: [Double]) throws(BenchError) -> [JSONValue] {
        var curves: [JSONValue] = []
        for (at, load) in loads.enumerated() {
            let most = Figure.median(closed[at].map(\.rate))
            var results: [JSONValue] = []
            for share in shares {
                results.append(
                    try load.measure(seconds: seconds, .rate(max(1, most * share))).json)
            }
            curves.append(
                .object([
                    .init("name", .string(contestants[at].rawValue)), .init("open_loop", .array(results)),
                ]))
        }
        return curves
    }

    /// The results, one row for each contestant.
    var rows: [CompareRow] {
        var seen: Set<String> = []
        return contestants.enumerated().map { at, contestant in
            // Figures of a server are in the row of its first load.
            let isFirst = seen.insert(contestant.host.rawValue).inserted
            return CompareRow(
                contestant, closed: closed[at], half: half[at],
                login: isFirst ? logins[contestant.host] : nil)
        }
    }
}
