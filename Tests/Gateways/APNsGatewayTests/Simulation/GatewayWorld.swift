import APNsGateway
import Basics
import BasicsSupport
import Delivery

/// The core, where a world has a real one.
protocol GatewayWorldCore: AnyObject {
    /// Whether nothing is left to do.
    var isFinished: Bool { get }
    func answered(_ answer: GatewayAnswer)
    /// Apple gets a request.
    func sent(_ send: APNsSend)
    /// Returns Apple's answer to a request without fault.
    func appleAnswer(to send: APNsSend, in environment: APNsEnvironment) -> APNsAnswer
}

/// A gateway between a simulated core and a simulated Apple, in simulated time. A seed repeats a run.
final class GatewayWorld {
    struct Settings {
        var registrations = 30
        var messages = 4
        /// Until when Apple makes faults.
        var faultMilliseconds: Int64 = 90_000
        /// When everything must be answered.
        var endMilliseconds: Int64 = 5 * 3_600_000
        var drains = false
        var jumps = false
        var replacesCredentials = false
        var refusesCredential = false
        var hasOutages = false
        /// Whether Apple refuses all connections until the end of the faults.
        var refusesConnections = false
        /// The first registrations, to whose devices each request is fatal for its connection. They never get a message.
        var fatal = 0
        /// Whether a fatal request aborts its connection. Otherwise Apple sends GOAWAY, and leaves it unprocessed.
        var fatalAborts = false
        /// Whether the shell reports things twice, late, of connections and requests of others, or never.
        var hasStrangeReports = false
        /// Milliseconds between two messages of a registration at most.
        var pause: Int64 = 5_000
    }

    struct Receiver {
        var token: String
        var fate: DeviceFate
        var bundle: [UInt8]
        var sent = 0
        var attempt = 0
        var isDone: Bool
    }

    let settings: Settings
    var random: SeededRandom
    var gateway: APNsGateway
    var checkers = GatewayCheckers()
    /// Changes effects, to check the checkers.
    var tamper: ((inout APNsEffects) -> Void)?
    /// What happens outside of Apple and the gateway, if a world has a real core.
    weak var core: (any GatewayWorldCore)?
    private let mapping: APNsMapping
    private let seed: UInt64
    private var processes: UInt64 = 1
    private var credentials = [Samples.key()]
    /// Streams that the shell reports beyond those that Apple allows, to check the checkers.
    var extraStreams = 0
    private(set) var time: Int64 = 0
    var wallShift: Int64 = 0
    var connections: [APNsConnectionID: AppleConnection] = [:]
    var receivers: [Receiver] = []
    var accepted = 0
    var opens = 0
    var mints = 0
    var alarms = 0
    var refusesAll = false
    var isOutage = false
    var tokenTimes: [[UInt8]: UnixMilliseconds] = [:]
    /// The `apns-id` of each request.
    var requestIDs: [UInt64: String] = [:]
    private var agenda = Agenda<GatewayWorld>()
    private var inbox: [APNsEvent] = []
    private var isFeeding = false
    private var effects = APNsEffects()

    init(
        seed: UInt64, _ settings: Settings = Settings(), mapping: @escaping APNsMapping = Samples.mapping
    ) {
        self.settings = settings
        self.mapping = mapping
        self.seed = seed
        random = SeededRandom(seed: seed)
        gateway = Self.makeGateway(seed: seed, mapping)
        for number in 0..<settings.registrations {
            // Most device tokens are good, and some have two registrations.
            let isFatal = number < settings.fatal
            let fate =
                isFatal
                ? .fatal : number % 3 > 0 ? .good : DeviceFate.ordinary.randomElement(using: &random) ?? .good
            let isShared = number % 7 == 1 && number > settings.fatal
            let environment = Bool.random(using: &random) ? "p_" : "s_"
            receivers.append(
                Receiver(
                    token: environment + String(1_000 + number), fate: fate,
                    bundle: Array("com.example.app\(number % 3)".utf8), isDone: isFatal))
            if isShared {
                receivers[number].token = receivers[number - 1].token
                receivers[number].fate = receivers[number - 1].fate
                receivers[number].bundle = receivers[number - 1].bundle
            }
        }
    }

    private static func makeGateway(seed: UInt64, _ mapping: @escaping APNsMapping) -> APNsGateway {
        APNsGateway(settings: APNsSettings(connections: 3, mapping: mapping), seed: seed)
    }

    var now: Now {
        Now(
            monotonic: Instant(nanoseconds: (time + 1_000) * 1_000_000),
            wall: Samples.epoch + time + wallShift)
    }

    var isFaulty: Bool { time < settings.faultMilliseconds }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    func after(_ milliseconds: Int64, _ action: @escaping (GatewayWorld) -> Void) {
        agenda.add(at: time + milliseconds, action)
    }

    /// Runs until everything is answered. Returns what the checkers have found.
    func run() -> [String] {
        feed(.credentials(credentials))
        for index in receivers.indices {
            after(Int64.random(in: 0...settings.pause, using: &random)) { $0.offer(index) }
        }
        scheduleTick()
        scheduleTrouble()
        while let next = agenda.next(until: settings.endMilliseconds) {
            time = max(time, next.at)
            next.action(self)
            checkers.holds(gateway.unanswered, bound: Limits.APNsGateway.queuedRequests)
            if core?.isFinished ?? receivers.allSatisfy(\.isDone), !settings.drains { break }
            if gateway.isDrained { break }
        }
        if settings.drains {
            checkers.mustHold(gateway.isDrained, "drain: not done")
            let isQuick = time <= settings.faultMilliseconds / 2 + 10_200
            checkers.mustHold(isQuick, "drain: it takes until \(time)")
        } else {
            let open = receivers.count { !$0.isDone }
            checkers.mustHold(open == 0, "progress: \(open) registrations have not got all messages")
        }
        checkers.finished(withoutAnswer: settings.fatal)
        checkers.idle(gateway.status(now: now), unanswered: gateway.unanswered, allowed: settings.fatal)
        return checkers.found
    }

    /// Replaces the gateway by that of a new process. Apple loses all connections.
    func restart() {
        processes += 1
        inbox = []
        effects.removeAll()
        for connection in connections.values { end(connection) }
        connections = [:]
        gateway = Self.makeGateway(seed: seed &+ processes, mapping)
        checkers.restarted()
        feed(.credentials(credentials))
    }

    /// Replaces the credentials, also for later processes.
    func use(_ credentials: [APNsCredential]) {
        self.credentials = credentials
        feed(.credentials(credentials))
    }

    private func scheduleTick() {
        let wait = gateway.nextTick(now).milliseconds(since: now.monotonic)
        after(min(wait, 1_000)) {
            $0.feed(.tick)
            $0.scheduleTick()
        }
    }

    /// Feeds an event, and executes the effects of it and of all that follow at once.
    func feed(_ event: APNsEvent) {
        inbox.append(event)
        guard !isFeeding else { return }
        isFeeding = true
        while !inbox.isEmpty {
            gateway.handle(inbox.removeFirst(), now: now, effects: &effects)
            tamper?(&effects)
            let done = effects
            effects.removeAll()
            apply(done)
        }
        isFeeding = false
    }
}
