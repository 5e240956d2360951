import Basics
import Client
import ClientProtocol
import Glibc
import Operator
import Transport
import Wire

/// A ccsd under attack, with good app servers and devices in parallel.
final class AttackRun {
    private let bench: Bench
    private let target: DaemonTarget
    private let metrics: MetricsProbe
    private let good: LoadRun
    private let receivers: Receivers
    private let scene: AttackScene
    private let process: Int32
    private let rate: Double
    /// Percent of the full scale of each attack.
    private let scale: Int
    private let milliseconds: Int64

    /// Descriptors for unauthenticated peers; the attack on half-open connections uses more than these.
    private static let descriptorsForPeers = 768
    /// Number of devices of the attackers.
    private static let hostileDevices = 10
    /// Seconds that an attack may take to have its effects.
    private static let longestSeconds = 120
    /// Seconds in which memory must be returned and all messages delivered.
    private static let recoverySeconds = 40
    /// Descriptors that ccsd may open in addition to its current ones, in the attack on descriptors.
    private static let extraDescriptors = Limits.Connection.alwaysFreeDescriptors + 4

    /// Milliseconds for which the good peers continue after the attackers have left.
    private static let restMilliseconds: Int64 = 300

    init(_ bench: Bench, rate: Int, scale: Int) throws(BenchError) {
        self.bench = bench
        self.rate = Double(rate)
        self.scale = scale
        milliseconds = Int64(bench.seconds) * 1_000
        let peers = bench.connections + bench.deviceCount
        let port = try Bench.freePort()
        target = try DaemonTarget(
            bench, reactors: bench.reactors, flags: ["--admin-port", "\(port)"],
            descriptors: Limits.Connection.reservedDescriptors + peers + Self.descriptorsForPeers)
        metrics = MetricsProbe(bench, port: port)
        process = target.process
        let devices = try bench.devices(target)
        scene = AttackScene(
            login: target.credential,
            wrongLogin: StreamCredential(
                sender: String(target.sender.number), key: "not-the-key-of-this-sender"),
            key: String(decoding: target.key, as: UTF8.self),
            devices: try bench.devices(target, Self.hostileDevices))
        receivers = try Receivers(bench, target, devices)
        good = try bench.appServers(
            target, devices, receivers, name: "good", lifetimeSeconds: Bench.lifetime)
    }

    /// Runs one attack and returns its result.
    func run(_ attack: Attack) throws(BenchError) -> AttackRow {
        var row = AttackRow(name: attack.name)
        let counters = good.counters
        let start = books
        good.begin(.rate(rate))
        turn(milliseconds / 3)
        counters.beginMeasuring()
        turn(milliseconds / 3)
        row.before = Latencies(counters.deliveryTimes)
        row.memory.before = resident
        row.memory.peak = row.memory.before
        counters.beginMeasuring()
        try strike(attack, &row)
        let end = Now.read().monotonic.advanced(seconds: Self.recoverySeconds)
        while resident > row.memory.before + row.allowedKiB(books.acknowledged - start.acknowledged),
            Now.read().monotonic < end
        { turn(200) }
        awaitPending()
        row.memory.after = resident
        row.books = books
        row.books.since(start)
        row.isRunning = isRunning
        row.isServing = row.isRunning && servesNewcomers()
        counters.failures = []
        return row
    }

    // MARK: The attack

    private func strike(_ attack: Attack, _ row: inout AttackRow) throws(BenchError) {
        var crowd: HostileCrowd?
        if let script = attack.script {
            let scene = scene
            crowd = try HostileCrowd(
                target, wanted: scaled(attack.connections), perSecond: scaled(attack.perSecond)
            ) { script(scene, $0) }
        }
        let renegotiator = attack.action == .renegotiations ? Renegotiator(port: target.appServers.port) : nil
        do throws(TransportError) { try renegotiator?.begin() } catch { throw BenchError(error.description) }
        if attack.action == .fewDescriptors { limitDescriptors(extra: Self.extraDescriptors) }
        let earlier = try metrics.read()
        let begin = Now.read().monotonic
        let goal = attack.blocks.map(scaled) ?? 0
        var evidence = AttackEvidence()
        var isOver = false
        while !isOver {
            turn(20)
            if isRunning { try crowd?.openDue(Now.read().monotonic) }
            if attack.action == .reloads {
                _ = kill(process, SIGHUP)
                row.blocks += 1
            }
            row.memory.peak = max(row.memory.peak, resident)
            let passed = Now.read().monotonic.milliseconds(since: begin)
            bench.progress.show(attack.name, Int(passed), of: Int(milliseconds))
            // On a slow machine too: the effects decide, not the time.
            guard passed >= milliseconds || !isRunning else { continue }
            if isRunning { evidence = try self.evidence(since: earlier, crowd, renegotiator) }
            row.reached = attack.reached(evidence, seconds: bench.seconds, scale: scale)
            let isMade = !row.reached.contains(where: \.isMissing) && crowd.map { $0.blocks >= goal } ?? true
            isOver = isMade || !isRunning || passed >= max(milliseconds, Int64(Self.longestSeconds) * 1_000)
        }
        if attack.action == .fewDescriptors { limitDescriptors(extra: nil) }
        row.memory.peak = max(row.memory.peak, resident)
        row.during = Latencies(good.counters.deliveryTimes)
        if let crowd {
            row.connections = crowd.begun
            row.flooding = crowd.flooding
            row.blocks += crowd.blocks
            row.bytes = crowd.bytes
            row.actions = crowd.answers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            if crowd.present > 0 { row.actions.append(("still connected", crowd.present)) }
            crowd.disperse()
            turn(Self.restMilliseconds)
        }
        if let renegotiator {
            _ = bench.turn(seconds: 10) { renegotiator.end() }
            let counts = renegotiator.soFar
            row.connections = counts.connections
            row.blocks = counts.connections
            row.actions = [("handshakes refused", counts.refused), ("granted", counts.granted)]
            if counts.granted > 0 { row.breaches.append("renegotiation was granted") }
        }
        row.actions = evidence.daemon.words(begun: evidence.begun) + row.actions
        bench.progress.clear()
    }

    /// Returns the counts of both sides since `earlier` was read.
    private func evidence(
        since earlier: DaemonCounts, _ crowd: HostileCrowd?, _ renegotiator: Renegotiator?
    ) throws(BenchError) -> AttackEvidence {
        // Connections are counted first, so that none looks as if it had never been accepted.
        let begun = crowd?.begun ?? renegotiator?.soFar.connections ?? 0
        let daemon = try metrics.read().since(earlier)
        var evidence = crowd?.evidence ?? AttackEvidence()
        evidence.daemon = daemon
        evidence.begun = begun
        evidence.renegotiationsRefused = renegotiator?.soFar.refused ?? 0
        return evidence
    }

    private func scaled(_ number: Int) -> Int { max(1, number * scale / 100) }

    /// Limits ccsd's descriptors to those that it has open plus `extra`; `nil` restores its limit.
    private func limitDescriptors(extra: Int?) {
        let most = extra.map { ProcessProbe(process: process).descriptors + $0 } ?? .max
        DescriptorLimit.set(process: process, to: most)
    }

    // MARK: The good ones

    private var books: AttackRow.Books {
        let counters = good.counters
        return AttackRow.Books(
            sent: counters.sent, acknowledged: counters.acknowledged, refused: counters.refused,
            delivered: counters.delivered, ended: counters.failures)
    }

    /// Stops the good peers, and waits for pending messages.
    private func awaitPending() {
        good.pause()
        _ = bench.turn(seconds: Self.recoverySeconds) {
            let books = books
            return books.sent == books.acknowledged + books.refused && books.delivered >= books.acknowledged
        }
    }

    /// Whether a new app server, a new request and the control socket are served.
    private func servesNewcomers() -> Bool {
        let login = AppServerLogin(sender: target.sender, key: Redacted(target.key))
        let server = AppServerClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: target.appServers, serverName: "localhost", tls: bench.tls),
            login: login)
        let client = HTTPClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: target.https, serverName: "localhost", tls: bench.tls))
        defer {
            server.abort()
            client.close()
            _ = bench.turn(seconds: 1) { !server.isConnected }
        }
        do {
            try server.connect()
            guard bench.turn(seconds: 20, until: { server.isReady }),
                try client.answer(to: HTTPCall("GET", "/openapi.json")).status == 200
            else { return false }
            return try target.control(ShowStatus()).state == "serving"
        } catch { return false }
    }

    // MARK: The daemon

    private var resident: Int { ProcessProbe(process: process).residentKiB }
    private var isRunning: Bool { target.isRunning }

    private func turn(_ milliseconds: Int64) {
        let end = Now.read().monotonic.advanced(milliseconds: milliseconds)
        while Now.read().monotonic < end { bench.turn(waitMilliseconds: 5) }
    }
}
