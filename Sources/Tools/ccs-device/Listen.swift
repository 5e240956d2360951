import Basics
import Catalogue
import Client
import ClientProtocol
import Transport

/// `listen`: prints each message, and acknowledges it as requested.
final class Listen {
    private let scene: Scene
    private var state: DeviceState
    private let device: DeviceClient
    private let behaviour: Behaviour
    private var activity: Activity?
    private var messages = 0
    private var wasLoggedIn = false
    private var refused = false
    private var failure = ""

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        let invocation = scene.invocation
        if invocation.has("--timeout"), !invocation.has("--count") {
            throw Failure(
                .usage, "--timeout needs --count", hint: "--seconds sets a duration without a count")
        }
        if invocation.has("--send-rate"), !invocation.has("--sender") {
            throw Failure(.usage, "--send-rate needs --sender", hint: "messages go to a sender")
        }
        behaviour = try Behaviour(invocation)
        let app = scene.app
        let known = try DeviceState.read(scene.statePath)?.registration(of: app)
        if let known, app.instance == nil || app.instance == known.instance {
            try Register.report(known.token, scene)
        } else if invocation.has("--sender") {
            try Register.register(scene)
        } else if invocation.has("--print-token") || invocation.has("--token-file") {
            throw Failure(
                .usage, "--print-token and --token-file need --sender", hint: "give the sender: --sender ID")
        }
        state = try DeviceState.require(scene.statePath)
        device = DeviceClient(
            reactor: scene.reactor, endpoint: scene.device, identity: state.identity,
            received: state.received, acknowledgement: behaviour.acknowledgement)
        behaviour.apply(to: device)
    }

    func run() throws(Failure) -> ExitCode {
        let wanted = scene.invocation.integer("--count")
        let activity = Activity(scene) { [unowned self] in [device] }
        self.activity = activity
        device.onEvent = { [unowned self] _, event, _ in handle(event, wanted) }
        do throws(TransportError) { try device.connect() } catch { throw Failure(error) }
        let seconds = [scene.invocation.integer("--seconds"), scene.invocation.integer("--timeout")]
            .compactMap { $0 }.min()
        let isDone = scene.wait(seconds: seconds) {
            refused || !failure.isEmpty || wanted.map { messages >= $0 } ?? false
        }
        activity.end()
        device.close()
        scene.waitUntilClosed { !device.isConnected }
        state.received = device.unconfirmed
        try state.write(scene.statePath)
        if refused {
            throw Failure(
                .failure, "the server refused the login of this device",
                hint: "remove the state file and register again")
        }
        if !failure.isEmpty {
            throw Failure(
                .unavailable, "no connection to \(scene.device.address.description): \(failure)",
                hint: Failure.hint(for: failure))
        }
        // Fewer messages than requested is a failure, which scripts rely on.
        guard let wanted, !isDone else { return .success }
        let time = scene.isInterrupted ? "before it was interrupted" : "in \(seconds ?? 0) seconds"
        throw Failure(.failure, "\(messages) of \(wanted) messages arrived \(time)")
    }

    private func handle(_ event: DeviceEvent, _ wanted: Int?) {
        switch event {
        case .message:
            guard wanted.map({ messages < $0 }) ?? true else { return }
            messages += 1
        case .loggedIn:
            wasLoggedIn = true
            device.reconnects = true
            scene.output.report(event, of: device)
            behaviour.loggedIn(device)
            activity?.begin()
            return
        case .loginRefused: refused = true
        case .closed(let reason, let detail):
            if !wasLoggedIn, !refused { failure = detail.isEmpty ? reason.rawValue : detail }
        case .upstreamStored: activity?.countStored()
        default: break
        }
        var opened: [UInt8]?
        if case .message(let message) = event, message.isEncrypted { opened = state.text(of: message) }
        scene.output.report(event, of: device, opened: opened)
    }
}
