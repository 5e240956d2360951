import Basics
import Catalogue
import Client
import Glibc
import Transport
import Wire

/// `many`: registers many devices, logs them in, and counts what arrives.
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
    private var loggedIn = 0
    private var messages = 0
    private var losses = 0
    private var failure: ClientError?

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        wanted = scene.invocation.integer("--devices") ?? 100
        let room = DescriptorLimit.raise() - Limits.enrolmentsAtOnce - 64
        guard wanted <= room else {
            throw Failure(
                .failure, "this user may have \(room) connections at once, not \(wanted)",
                hint: "raise the limit: ulimit -n")
        }
    }

    func run() throws(Failure) {
        let seconds = scene.invocation.integer("--seconds") ?? 60
        for _ in 0..<min(wanted, Limits.enrolmentsAtOnce) { enrol() }
        guard scene.wait(seconds: nil, until: { finished == wanted || failure != nil }), failure == nil else {
            throw failure.map { Failure($0, scene.https) } ?? Failure(.failure, "interrupted")
        }
        try writeTokens()
        scene.output.tell(
            "registered", [JSONValue.Member("devices", .integer(wanted))], "\(wanted) devices are registered")
        connectMore()
        _ = scene.wait(seconds: Limits.clientAnswerSeconds + wanted / 100) { logins == wanted }
        scene.output.tell(
            "logged_in", [JSONValue.Member("devices", .integer(loggedIn))],
            "\(loggedIn) devices are logged in")
        _ = scene.wait(seconds: seconds) { false }
        scene.output.tell(
            "summary",
            [
                JSONValue.Member("devices", .integer(wanted)),
                JSONValue.Member("logged_in", .integer(loggedIn)),
                JSONValue.Member("messages", .integer(messages)),
                JSONValue.Member("losses", .integer(losses)),
            ],
            "\(loggedIn) of \(wanted) devices are logged in; \(messages) messages came, \(losses) connections were lost"
        )
        for device in devices { device.close() }
        scene.settle { devices.allSatisfy { !$0.isConnected } }
    }

    private func enrol() {
        begun += 1
        DeviceEnrolment.begin(nil, scene.app, reactor: scene.reactor, endpoint: scene.https) {
            [unowned self] outcome in
            switch outcome {
            case .failure(let error): failure = failure ?? error
            case .success(let made):
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
            acknowledgement: scene.invocation.has("--no-ack") ? .never : .stream)
        device.heartbeatSeconds = Limits.devicePingSeconds
        device.onEvent = { [unowned self] device, event, _ in hear(event, device) }
        devices.append(device)
    }

    /// Connects the next ones: so many at once as the server lets be without login.
    private func connectMore() {
        while nextToConnect < devices.count, connecting < Limits.enrolmentsAtOnce {
            let device = devices[nextToConnect]
            nextToConnect += 1
            if (try? device.connect()) != nil { connecting += 1 }
        }
    }

    private func hear(_ event: DeviceEvent, _ device: DeviceClient) {
        switch event {
        case .message: messages += 1
        case .loggedIn:
            loggedIn += 1
            if !device.reconnects { settled() }
            device.reconnects = true
        case .loginRefused: settled()
        case .closed:
            losses += 1
            if device.reconnects { loggedIn -= 1 } else { settled() }
        default: break
        }
    }

    private func settled() {
        logins += 1
        connecting -= 1
        connectMore()
    }

    private func writeTokens() throws(Failure) {
        guard let path = scene.invocation.text("--tokens") else { return }
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw unsafe Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
        }
        DescriptorOutput.write(tokens.map { $0 + "\n" }.joined(), to: descriptor)
        close(descriptor)
    }
}
