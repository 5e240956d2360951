import Basics
import Client
import ClientProtocol
import Transport

/// A device of the soak: receives, sends, and may leave and come back all the time.
final class SoakDevice: Lane {
    /// Where it is with its connection.
    private enum Stage {
        case coming, here, leaving, away
    }

    /// Whom it tells of what happens.
    private weak var run: SoakRun?
    private let client: DeviceClient
    private let number: Int
    /// What app servers send to.
    let token: [UInt8]
    /// Messages sent to it that have not come.
    var owed = 0
    /// When it logged in last, nanoseconds of the monotonic clock.
    private(set) var loggedInAt: Int64 = .max
    /// When it began to come back last.
    private(set) var cameAt = Int64.max
    var outstanding: Int { client.waitingUpstream }
    private var stage = Stage.away
    /// When it next leaves or comes back.
    private var due = Instant.distantPast

    init(_ run: SoakRun, _ made: BenchDevice, number: Int) {
        self.run = run
        self.number = number
        token = Array(made.token.utf8)
        client = DeviceClient(
            reactor: run.bench.reactor,
            endpoint: Endpoint(address: run.target.devices, serverName: "localhost", tls: run.bench.tls),
            identity: DeviceIdentity(androidID: made.number, securityToken: Redacted(made.secret)),
            acknowledgement: Self.habits[number % Self.habits.count])
        client.onEvent = { [weak self] _, event, now in self?.heard(event, now) }
    }

    /// How devices acknowledge, in turns: at once, as Chromium does, and by name.
    private static let habits: [DeviceAcknowledgement] = [.stream, .streamEvery(10), .selective]

    var isHere: Bool { stage == .here }

    // MARK: Sending

    /// As many as a device may have on their way (FCM); none while it is away.
    var window: Int { isHere ? Limits.Mailbox.waitingUpstream : 0 }

    func send(dueAt time: Int64) {
        guard let run else { return }
        // The device stands in the id as well: the receiver must know whose login it is.
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
    func come() {
        guard stage == .away else { return }
        stage = .coming
        cameAt = Now.read().monotonic.nanoseconds
        do throws(TransportError) { try client.connect() } catch { run?.failed("device", error.description) }
    }

    /// Leaves or comes back where it is time to, or where so much waits for it that more would be discarded.
    func tend(_ now: Instant, _ flapping: inout Flapping) {
        switch stage {
        case .here where now >= due:
            stage = .leaving
            let leave = flapping.leave()
            due = now.advanced(milliseconds: leave.awayMilliseconds)
            if leave.isOrderly { client.close() } else { client.abort() }
        case .away where now >= due || owed >= Flapping.mostOwed:
            come()
            due = now.advanced(milliseconds: flapping.stay())
        default: break
        }
    }

    /// When it leaves first.
    func leave(at time: Instant) { due = time }

    /// Acknowledges all that it has received.
    func acknowledge() { client.heartbeat() }

    private func heard(_ event: DeviceEvent, _ now: Now) {
        guard let run else { return }
        switch event {
        case .loggedIn:
            stage = .here
            loggedInAt = now.monotonic.nanoseconds
            run.logins += 1
        case .message(let message):
            guard !message.isDeletedMarker else { return run.failed("device", "messages were discarded") }
            run.arrived(message, at: self, now)
        case .upstreamStored(let id):
            if let time = run.up.accepted(SoakRun.number(id)), time >= loggedInAt {
                run.upCounters.answerTimes.note(now.monotonic.nanoseconds - time)
            }
            run.upFeeder.answered(self, now: now)
        case .unexpected(let what): run.failed("device", what)
        case .loginRefused(let code): run.failed("device", "login refused (\(code))")
        case .closed(let reason, let detail):
            if stage != .leaving {
                run.upCounters.noteEnd("device", reason, detail)
                due = now.monotonic.advanced(milliseconds: Limits.Client.reconnectLeastMilliseconds)
            }
            stage = .away
        default: break
        }
    }
}

/// When devices leave and how long they stay away.
struct Flapping {
    private var random: SeededRandom

    /// So much may be owed to a device: well below the 100 at which all that waits for it is discarded.
    static let mostOwed = 60
    /// Milliseconds for which a device stays.
    static let stays: ClosedRange<Int64> = 5_000...25_000
    /// Milliseconds for which most are away: a change of the network.
    static let shortAbsences: ClosedRange<Int64> = 200...2_000
    /// Milliseconds for which every fourth is away: messages are stored meanwhile.
    static let longAbsences: ClosedRange<Int64> = 5_000...15_000

    /// In a run of fewer seconds devices stay shorter, in proportion: some come back within it.
    private static let fullSeconds = 100
    private let seconds: Int

    /// For a run of so many seconds; the same seed gives the same comings and goings.
    init(seed: UInt64, seconds: Int) {
        random = SeededRandom(seed: seed)
        self.seconds = min(seconds, Self.fullSeconds)
    }

    /// How long a device stays now, milliseconds.
    mutating func stay() -> Int64 {
        Int64.random(in: Self.stays, using: &random) * Int64(seconds) / Int64(Self.fullSeconds)
    }

    /// How long it is away, and whether it ends its connection in order before.
    mutating func leave() -> (awayMilliseconds: Int64, isOrderly: Bool) {
        let absences = random.next() % 4 == 0 ? Self.longAbsences : Self.shortAbsences
        return (Int64.random(in: absences, using: &random), random.next() % 2 == 0)
    }
}
