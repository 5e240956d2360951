import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// `many`: registers many devices, logs them in, and counts the messages that arrive.
final class Many {
    private let scene: Scene
    private let wanted: Int
    private var devices: [DeviceClient] = []
    private var tokens: [String] = []
    private var begun = 0
    private var finished = 0
    private var logins = 0
    private var connecting = 0
    private var nextToConnect = 0
    private var loggedIn: Int { ready.count }
    private var messages = 0
    private var losses = 0
    private var failure: ClientError?
    /// Consecutive failed enrolments.
    private var failuresInRow = 0
    /// Devices that have been logged in or refused.
    private var known: Set<ObjectIdentifier> = []
    /// Devices that are logged in now.
    private var ready: Set<ObjectIdentifier> = []
    private var refused = 0
    /// Whether it is ending: closed connections are no longer losses.
    private var isLeaving = false
    private let behaviour: Behaviour
    private let reportsEvents: Bool
    private var activity: Activity?

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        wanted = scene.invocation.integer("--devices") ?? 100
        behaviour = try Behaviour(scene.invocation)
        reportsEvents = scene.invocation.has("--events")
        let room = DescriptorLimit.raise() - Limits.Client.enrolmentsAtOnce - 64
        guard wanted <= room else {
            throw Failure(
                .failure, "this user may have \(room) connections at once, not \(wanted)",
                hint: "raise the limit: ulimit -n")
        }
    }

    func run() throws(Failure) {
        let activity = Activity(scene) { [unowned self] in devices }
        self.activity = activity
        let seconds = scene.invocation.integer("--seconds") ?? 60
        for _ in 0..<min(wanted, Limits.Client.enrolmentsAtOnce) { enrol() }
        guard scene.wait(seconds: nil, until: { finished == wanted || failure != nil }), failure == nil else {
            throw failure.map { Failure($0, scene.https) } ?? Failure(.failure, "interrupted")
        }
        try writeTokens()
        scene.output.report(
            "registered", [JSONValue.Member("devices", .integer(wanted))], "\(wanted) devices are registered")
        connectMore()
        _ = scene.wait(seconds: Limits.Client.answerSeconds + wanted / 20) { logins == wanted }
        scene.output.report(
            "logged_in", [JSONValue.Member("devices", .integer(loggedIn))],
            "\(loggedIn) devices are logged in")
        let everLoggedIn = logins - refused
        activity.begin()
        let count = scene.invocation.integer("--count")
        _ = scene.wait(seconds: seconds) { count.map { messages >= $0 } ?? false }
        activity.end()
        isLeaving = true
        for device in devices { device.close() }
        scene.waitUntilClosed { devices.allSatisfy { !$0.isConnected } }
        summarise(activity)
        guard everLoggedIn == wanted else {
            throw Failure(
                .failure, "\(wanted - everLoggedIn) of \(wanted) devices could not log in",
                hint: refused > 0 ? "the server refused \(refused) of them" : Failure.hint(for: ""))
        }
        if let count, messages < count {
            throw Failure(.failure, "\(messages) of \(count) messages arrived in \(seconds) seconds")
        }
    }

    private func summarise(_ activity: Activity) {
        scene.output.report(
            "summary",
            [
                JSONValue.Member("devices", .integer(wanted)),
                JSONValue.Member("logged_in", .integer(loggedIn)),
                JSONValue.Member("messages", .integer(messages)),
                JSONValue.Member("sent", .integer(activity.sent)),
                JSONValue.Member("stored", .integer(activity.stored)),
                JSONValue.Member("losses", .integer(losses)),
            ],
            "\(loggedIn) of \(wanted) devices are logged in; \(messages) messages arrived, \(activity.stored) of \(activity.sent) sent are stored, \(losses) connections were lost"
        )
    }

    private func enrol() {
        begun += 1
        DeviceEnrolment.begin(nil, scene.app, reactor: scene.reactor, endpoint: scene.https) {
            [unowned self] outcome in
            switch outcome {
            case .failure(let error) where error.mayPass && failuresInRow < Limits.Client.enrolmentsAtOnce:
                // A server under load delays some too long: they are retried, as long as others succeed.
                failuresInRow += 1
                begun -= 1
                enrol()
            case .failure(let error): failure = failure ?? error
            case .success(let made):
                failuresInRow = 0
                finished += 1
                tokens.append(made.token)
                add(made.identity)
                if begun < wanted, failure == nil { enrol() }
            }
        }
    }

    private func add(_ identity: DeviceIdentity) {
        let device = DeviceClient(
            reactor: scene.reactor, endpoint: scene.device, identity: identity,
            acknowledgement: behaviour.acknowledgement)
        behaviour.apply(to: device)
        device.onEvent = { [unowned self] device, event, _ in handle(event, device) }
        devices.append(device)
    }

    /// Connects further devices: as many at once as the server allows before login.
    private func connectMore() {
        while nextToConnect < devices.count, connecting < Limits.Client.enrolmentsAtOnce {
            let device = devices[nextToConnect]
            device.reconnects = true
            nextToConnect += 1
            if (try? device.connect()) != nil { connecting += 1 }
        }
    }

    private func handle(_ event: DeviceEvent, _ device: DeviceClient) {
        if reportsEvents { scene.output.report(event, of: device) }
        guard !isLeaving else { return }
        switch event {
        case .message: messages += 1
        case .upstreamStored: activity?.countStored()
        case .loggedIn:
            ready.insert(ObjectIdentifier(device))
            finishLogin(device)
            behaviour.loggedIn(device)
        case .loginRefused:
            if !known.contains(ObjectIdentifier(device)) { refused += 1 }
            finishLogin(device)
        case .closed:
            losses += 1
            ready.remove(ObjectIdentifier(device))
        default: break
        }
    }

    /// Lets the next device connect after one was logged in or refused for the first time.
    private func finishLogin(_ device: DeviceClient) {
        guard known.insert(ObjectIdentifier(device)).inserted else { return }
        logins += 1
        connecting -= 1
        connectMore()
    }

    private func writeTokens() throws(Failure) {
        guard let path = scene.invocation.text("--tokens") else { return }
        try PrivateFile.write(tokens.map { $0 + "\n" }.joined(), to: path)
    }
}

extension ClientError {
    /// Whether the same request may succeed a little later.
    fileprivate var mayPass: Bool {
        switch self {
        case .connection, .noAnswer: true
        case .status, .refused, .malformed: false
        }
    }
}
