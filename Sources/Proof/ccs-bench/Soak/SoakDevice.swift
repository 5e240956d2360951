import Basics
import Client
import ClientProtocol
import Transport

/// A device of the soak: receives and sends, and may disconnect and reconnect repeatedly.
final class SoakDevice: Lane {
    /// The state of its connection.
    private enum Stage {
        case coming, here, leaving, away
    }

    /// The run, which is notified of events.
    private weak var run: SoakRun?
    private let client: DeviceClient
    private let number: Int
    /// The token that app servers send to.
    let token: [UInt8]
    /// Messages sent to it that have not arrived.
    var undelivered = 0
    /// Time of its last login, in nanoseconds of the monotonic clock.
    private(set) var loggedInAt: Int64 = .max
    /// Time at which it last started to reconnect.
    private(set) var cameAt = Int64.max
    var outstanding: Int { client.waitingUpstream }
    private var stage = Stage.away
    /// When it next disconnects or reconnects.
    private var due = Instant.distantPast

    init(_ run: SoakRun, _ made: BenchDevice, number: Int) {
        self.run = run
        self.number = number
        token = Array(made.token.utf8)
        client = DeviceClient(
            reactor: run.bench.reactor,
            endpoint: Endpoint(address: run.target.devices, serverName: "localhost", tls: run.bench.tls),
            identity: DeviceIdentity(androidID: made.number, securityToken: Redacted(made.secret)),
            acknowledgement: Self.acknowledgements[number % Self.acknowledgements.count])
        client.onEvent = { [weak self] _, event, now in self?.handle(event, now) }
    }

    /// Modes of acknowledgement, in turns: at once, as Chromium does, and by ID.
    private static let acknowledgements: [DeviceAcknowledgement] = [.stream, .streamEvery(10), .selective]

    var isHere: Bool { stage == .here }

    // MARK: Sending

    /// The maximum of pending messages of a device (FCM); 0 while it is disconnected.
    var window: Int { isHere ? Limits.Mailbox.waitingUpstream : 0 }

    func send(dueAt time: Int64) {
        guard let run else { return }
        // The ID contains the device too: the receiver must find the time of its login.
        let id = Array("\(number)-\(run.up.open(dueAt: time))".utf8)
        var message = Upstream(
            sender: run.target.sender, category: Array(DaemonTarget.category.utf8), messageID: id,
            persistentID: id)
        message.lifetimeSeconds = Bench.lifetime
        message.data = [(Array("x".utf8), SoakRun.filler)]
        client.send(message)
    }

    func flush() {}

    // MARK: Coming and going

    /// Opens its connection.
    func connect() {
        guard stage == .away else { return }
        stage = .coming
        cameAt = Now.read().monotonic.nanoseconds
        do throws(TransportError) { try client.connect() } catch { run?.failed("device", error.description) }
    }

    /// Disconnects or reconnects when it is time, or when further messages would make the server discard all.
    func connectOrLeave(_ now: Instant, _ flapping: inout Flapping) {
        switch stage {
        case .here where now >= due:
            stage = .leaving
            let leave = flapping.leave()
            due = now.advanced(milliseconds: leave.awayMilliseconds)
            if leave.isOrderly { client.close() } else { client.abort() }
        case .away where now >= due || undelivered >= Flapping.maximumUndelivered:
            connect()
            due = now.advanced(milliseconds: flapping.stay())
        default: break
        }
    }

    /// Sets when it disconnects first.
    func leave(at time: Instant) { due = time }

    /// Acknowledges all received messages.
    func acknowledge() { client.heartbeat() }

    private func handle(_ event: DeviceEvent, _ now: Now) {
        guard let run else { return }
        switch event {
        case .loggedIn:
            stage = .here
            loggedInAt = now.monotonic.nanoseconds
            run.logins += 1
        case .message(let message):
            guard !message.isDeletedMarker else { return run.failed("device", "messages were discarded") }
            run.arrived(message, at: self, now)
        case .upstreamStored(let id, _):
            if let time = run.up.accepted(SoakRun.number(id)), time >= loggedInAt {
                run.upCounters.answerTimes.record(now.monotonic.nanoseconds - time)
            }
            run.upFeeder.answered(self, now: now)
        case .unexpected(let what): run.failed("device", what)
        case .loginRefused(let code): run.failed("device", "login refused (\(code))")
        case .closed(let reason, let detail):
            if stage != .leaving {
                run.upCounters.recordEnd("device", reason, detail)
                due = now.monotonic.advanced(milliseconds: Limits.Client.reconnectMinimumMilliseconds)
            }
            stage = .away
        default: break
        }
    }
}

/// Decides when devices disconnect and for how long.
struct Flapping {
    private var random: SeededRandom

    /// Maximum of messages that wait for a device: well below the 100 at which all waiting messages are discarded.
    static let maximumUndelivered = 60
    /// Milliseconds for which a device stays connected.
    static let stays: ClosedRange<Int64> = 5_000...25_000
    /// Milliseconds for which most devices are disconnected: a change of the network.
    static let shortAbsences: ClosedRange<Int64> = 200...2_000
    /// Milliseconds for which every fourth is disconnected: messages are stored meanwhile.
    static let longAbsences: ClosedRange<Int64> = 5_000...15_000

    /// In a shorter run devices stay connected for proportionally less time, so that some reconnect within it.
    private static let fullSeconds = 100
    private let seconds: Int

    /// Creates the decisions for a run of `seconds`; the same seed gives the same ones.
    init(seed: UInt64, seconds: Int) {
        random = SeededRandom(seed: seed)
        self.seconds = min(seconds, Self.fullSeconds)
    }

    /// Returns how long a device now stays connected, in milliseconds.
    mutating func stay() -> Int64 {
        Int64.random(in: Self.stays, using: &random) * Int64(seconds) / Int64(Self.fullSeconds)
    }

    /// Returns how long it is disconnected, and whether it closes its connection properly before.
    mutating func leave() -> (awayMilliseconds: Int64, isOrderly: Bool) {
        let absences = random.next() % 4 == 0 ? Self.longAbsences : Self.shortAbsences
        return (Int64.random(in: absences, using: &random), random.next() % 2 == 0)
    }
}
