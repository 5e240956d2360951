import Basics
import Catalogue
import Client
import Transport

/// `listen`: prints each message, and acknowledges it.
final class Listen {
    private let scene: Scene
    private var state: DeviceState
    private let device: DeviceClient
    private var messages = 0
    private var wasLoggedIn = false
    private var refused = false
    private var failure = ""

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        let sender = scene.invocation.text("--sender")
        let known = try DeviceState.read(scene.statePath)
        let app = scene.app
        if sender != nil, known?.token(of: app) == nil { try Register.register(scene) }
        state = try DeviceState.require(scene.statePath)
        device = DeviceClient(
            reactor: scene.reactor, endpoint: scene.device, identity: state.identity,
            received: state.received,
            acknowledgement: scene.invocation.has("--no-ack") ? .nothing : .stream)
    }

    func run() throws(Failure) -> ExitCode {
        let wanted = scene.invocation.integer("--count")
        device.heartbeatSeconds = Limits.devicePingSeconds
        device.onEvent = { [unowned self] _, event, _ in hear(event, wanted) }
        do throws(TransportError) { try device.connect() } catch { throw Failure(error) }
        let isDone = scene.wait(seconds: scene.invocation.integer("--seconds")) {
            refused || !failure.isEmpty || wanted.map { messages >= $0 } ?? false
        }
        device.close()
        scene.settle { !device.isConnected }
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
        // Fewer messages than were waited for is a failure, as a script wants it.
        return wanted == nil || isDone ? .success : .failure
    }

    private func hear(_ event: DeviceEvent, _ wanted: Int?) {
        switch event {
        case .message:
            guard wanted.map({ messages < $0 }) ?? true else { return }
            messages += 1
        case .loggedIn:
            wasLoggedIn = true
            device.reconnects = true
        case .loginRefused: refused = true
        case .closed(let reason, let detail):
            if !wasLoggedIn, !refused { failure = detail.isEmpty ? reason.rawValue : detail }
        case .upstreamStored: return
        default: break
        }
        var opened: [UInt8]?
        if case .message(let message) = event, message.isEncrypted { opened = state.text(of: message) }
        scene.output.tell(event, of: device, opened: opened)
    }
}
