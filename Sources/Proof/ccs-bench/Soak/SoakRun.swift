import Basics
import Catalogue
import Client
import ClientProtocol
import Operator
import Transport
import Wire

/// A ccsd under a steady load in both directions for a long time, while devices disconnect and reconnect.
final class SoakRun {
    let bench: Bench
    let target: DaemonTarget
    private let rate: Int
    private(set) var devices: [SoakDevice] = []
    private var servers: [SoakServer] = []
    /// Number of devices that disconnect and reconnect: the first ones.
    private let flappers: Int
    private var flapping = Flapping(seed: 1, seconds: 0)
    private var nextDevice = 0
    var down = Books()
    var up = Books()
    let downCounters = LoadCounters()
    let upCounters = LoadCounters()
    let downFeeder: Feeder
    let upFeeder: Feeder
    /// Device logins so far.
    var logins = 0
    private var fetches = Histogram()
    private let probe: ProcessProbe
    private var begin = Now.read().monotonic
    private var sampledAt = Now.read().monotonic
    private var cpu: (server: Int64, own: Int64) = (0, 0)
    private var faults: [String] = []

    /// Filler of a message, so that a stanza is about as long as those of the other measurements.
    static let filler = [UInt8](repeating: 0x78, count: 64)
    /// Milliseconds between two checks for devices that must disconnect or reconnect.
    private static let tendMilliseconds: Int64 = 50
    /// Seconds in which pending messages must arrive after the load.
    private static let settleSeconds = 120
    /// Maximum seconds between two samples; a short run has at least `fewestSamples`.
    private static let sampleSeconds: Int64 = 5
    private static let fewestSamples: Int64 = 30
    /// Minimum of samples, even if the machine was too busy to take them in time: three thirds of three.
    private static let neededSamples = 9
    /// Seconds by which a run may be extended for them, and for the first message in each direction.
    private static let patienceSeconds = 120

    /// Enrols devices and logs all in; `flappingPercent` of the devices disconnect and reconnect repeatedly.
    init(
        _ bench: Bench, rate: Int, connections: Int, devices count: Int, flappingPercent: Int
    ) throws(BenchError) {
        self.bench = bench
        self.rate = rate
        flappers = count * flappingPercent / 100
        downFeeder = Feeder(downCounters)
        upFeeder = Feeder(upCounters)
        target = try DaemonTarget(bench, reactors: bench.invocation.integer("--reactors") ?? 2)
        probe = ProcessProbe(process: target.process)
        let made = try bench.devices(target, count)
        for number in 0..<connections {
            let server = try SoakServer(self, window: bench.window)
            servers.append(server)
            downFeeder.add(server)
            guard bench.turn(seconds: 10, until: { server.isReady }) else {
                throw BenchError("app server \(number) cannot log in: \(downCounters.failures)")
            }
        }
        devices = made.enumerated().map { SoakDevice(self, $1, number: $0) }
        for device in devices { upFeeder.add(device) }
        try connectAll()
    }

    private func connectAll() throws(BenchError) {
        for (number, device) in devices.enumerated() {
            device.connect()
            bench.progress.show("devices connected", number, of: devices.count)
            _ = bench.turn(seconds: 10) { logins > number - Receivers.handshakesAtOnce }
        }
        guard bench.turn(seconds: 60, until: { devices.allSatisfy(\.isHere) }) else {
            throw BenchError("only \(logins) devices could log in: \(upCounters.failures)")
        }
        bench.progress.clear()
    }

    // MARK: Messages

    /// Returns the token of the next target: all devices in turn.
    func nextTarget() -> [UInt8] {
        nextDevice = nextDevice + 1 < devices.count ? nextDevice + 1 : 0
        devices[nextDevice].undelivered += 1
        return devices[nextDevice].token
    }

    /// Records a message that has arrived at a device.
    func arrived(_ message: DeviceMessage, at device: SoakDevice, _ now: Now) {
        let again = down.repeated
        guard let time = down.arrived(message["n"].flatMap(Self.number)) else {
            guard down.repeated == again else { return }
            // A device with too many pending messages gets an error, after the stream ack (mcs-device 4.4).
            if message["message_type"].map({ $0 == Array("send_error".utf8) }) ?? false {
                up.refused(message["message_id"].flatMap(Self.number))
            }
            let pairs = message.pairs.map { pair in
                String(decoding: pair.key, as: UTF8.self) + "=" + String(decoding: pair.value, as: UTF8.self)
            }
            return failed("device", "received an error: \(pairs)")
        }
        device.undelivered -= 1
        // Messages that were due before the login waited for the device, not for the daemon.
        if time >= device.loggedInAt {
            downCounters.deliveryTimes.record(now.monotonic.nanoseconds - time)
        } else {
            fetches.record(now.monotonic.nanoseconds - device.cameAt)
        }
    }

    /// Records a device's message that has arrived at an app server; its ID contains the device and the number.
    func arrived(upstream id: [UInt8], _ now: Now) {
        guard let time = up.arrived(Self.number(id)), let device = Self.device(id) else { return }
        if time >= devices[device].loggedInAt {
            upCounters.deliveryTimes.record(now.monotonic.nanoseconds - time)
        }
    }

    /// Records a failure.
    func failed(_ who: String, _ what: String) {
        if faults.count < 10 { faults.append("\(who): \(what)") }
    }

    /// Returns the number at the end of an ID.
    static func number(_ id: [UInt8]) -> Int? {
        Int(String(decoding: id.split(separator: UInt8(ascii: "-")).last ?? [], as: UTF8.self))
    }

    private static func device(_ id: [UInt8]) -> Int? {
        Int(String(decoding: id.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self))
    }

    // MARK: The run

    /// Runs for `seconds`, and longer until there are enough samples; calls `report` with each sample.
    func measure(seconds: Int, report: (SoakSample) -> Void) throws(BenchError) -> SoakRecord {
        var record = SoakRecord(rate: rate)
        _ = bench.turn(seconds: 2) { false }
        record.socketsBefore = probe.sockets
        let start = Now.read()
        begin = start.monotonic
        sampledAt = begin
        cpu = (probe.cpuNanoseconds, ProcessProbe(process: ProcessProbe.own).cpuNanoseconds)
        flapping = Flapping(seed: 1, seconds: seconds)
        for device in devices.prefix(flappers) {
            device.leave(at: begin.advanced(milliseconds: flapping.stay()))
        }
        downFeeder.begin(.rate(Double(rate)), seed: 1, now: start)
        upFeeder.begin(.rate(Double(rate)), seed: 2, now: start)
        bench.feeders = [downFeeder, upFeeder]
        let end = begin.advanced(seconds: seconds)
        let interval = max(200, min(Self.sampleSeconds * 1_000, Int64(seconds) * 1_000 / Self.fewestSamples))
        var tended = begin
        while true {
            let now = Now.read().monotonic
            let isOver =
                now >= end.advanced(seconds: Self.patienceSeconds) || now >= end && hasEnough(record)
            if now.milliseconds(since: sampledAt) >= interval || isOver {
                record.samples.append(sample(now))
                if let last = record.samples.last { report(last) }
                bench.progress.show("soaking", Int(now.milliseconds(since: begin) / 1_000), of: seconds)
            }
            guard !isOver, target.isRunning else { break }
            if now.milliseconds(since: tended) >= Self.tendMilliseconds {
                tended = now
                for device in devices.prefix(flappers) { device.connectOrLeave(now, &flapping) }
            }
            bench.turn(waitMilliseconds: 5)
        }
        bench.progress.clear()
        try awaitPending(&record)
        return record
    }

    /// Whether there are enough samples for a verdict, including the one that is due now.
    private func hasEnough(_ record: SoakRecord) -> Bool {
        record.samples.count + 1 >= Self.neededSamples && down.accepted > 0 && up.accepted > 0
    }

    /// Ends the load, reconnects all devices, and compares the books.
    private func awaitPending(_ record: inout SoakRecord) throws(BenchError) {
        guard target.isRunning else { throw BenchError("ccsd has ended") }
        downFeeder.end()
        upFeeder.end()
        bench.feeders = []
        _ = bench.turn(seconds: Self.settleSeconds) {
            for device in devices { device.connect() }
            return devices.allSatisfy(\.isHere) && isAnswered && down.missing == 0 && up.missing == 0
        }
        for device in devices { device.acknowledge() }
        _ = bench.turn(seconds: 30) { probe.sockets <= record.socketsBefore }
        record.socketsAfter = probe.sockets
        record.down = side(down, downCounters)
        record.up = side(up, upCounters)
        // Acknowledgements are written with later commits.
        for _ in 0..<10 {
            let audit = try target.control(AuditStore())
            record.auditHolds = audit.holds
            Self.copy(audit.downstream, &record.down)
            Self.copy(audit.upstream, &record.up)
            guard record.down.auditedPending + record.up.auditedPending > 0 else { break }
            _ = bench.turn(seconds: 1) { false }
        }
        record.ended = faults + downCounters.failures + upCounters.failures
    }

    private var isAnswered: Bool { down.unanswered == 0 && up.unanswered == 0 }

    private func side(_ books: Books, _ counters: LoadCounters) -> SoakRecord.Side {
        SoakRecord.Side(
            counts: counts(books, counters, late: 0), refused: books.refused,
            unanswered: books.unanswered)
    }

    private static func copy(_ law: AuditStore.Counts, _ side: inout SoakRecord.Side) {
        side.audited = law.accepted
        side.auditedDelivered = law.delivered
        side.auditedPending = law.pending
    }

    // MARK: Samples

    private func sample(_ now: Instant) -> SoakSample {
        let used = (
            server: probe.cpuNanoseconds, own: ProcessProbe(process: ProcessProbe.own).cpuNanoseconds
        )
        let passed = Double(max(1, now.nanoseconds - sampledAt.nanoseconds))
        var sample = SoakSample()
        sample.seconds = Double(now.nanoseconds - begin.nanoseconds) / 1e9
        sample.residentKiB = probe.residentKiB
        sample.descriptors = probe.descriptors
        sample.sockets = probe.sockets
        sample.serverLoad = Double(used.server - cpu.server) / passed
        sample.ownLoad = Double(used.own - cpu.own) / passed
        sample.downTimes = Self.times(downCounters)
        sample.upTimes = Self.times(upCounters)
        sample.fetchP99 = fetches.microseconds(at: 0.99) ?? 0
        sample.lagP99 = downCounters.lag.microseconds(at: 0.99) ?? 0
        sample.down = counts(down, downCounters, late: downFeeder.waiting)
        sample.up = counts(up, upCounters, late: upFeeder.waiting)
        sample.storeBytes = target.diskBytes
        sample.devices = devices.count(where: \.isHere)
        sample.logins = logins
        downCounters.beginMeasuring()
        upCounters.beginMeasuring()
        fetches.reset()
        cpu = used
        sampledAt = now
        return sample
    }

    private func counts(_ books: Books, _ counters: LoadCounters, late: Int) -> SoakSample.Counts {
        SoakSample.Counts(
            sent: counters.sent, accepted: books.accepted, delivered: books.delivered,
            repeated: books.repeated, late: late)
    }

    private static func times(_ counters: LoadCounters) -> SoakSample.Times {
        let answers = Latencies(counters.answerTimes)
        let arrivals = Latencies(counters.deliveryTimes)
        return SoakSample.Times(
            answerP50: answers.p50, answerP99: answers.p99, p50: arrivals.p50, p99: arrivals.p99)
    }
}
