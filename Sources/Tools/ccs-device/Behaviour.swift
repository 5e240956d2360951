import Basics
import Catalogue
import Client
import ClientProtocol
import Transport

/// The behaviour of a device while it is logged in: correct, or wrong on purpose.
struct Behaviour {
    /// How it acknowledges messages.
    var acknowledgement: DeviceAcknowledgement
    /// Whether each login repeats received IDs of earlier logins.
    var replays: Bool
    /// Whether it ends its output after the login.
    var halfCloses: Bool
    /// Whether its heartbeats report an idle device.
    var isIdle: Bool
    /// Seconds between its heartbeats.
    var heartbeatSeconds: Int

    /// The values of `--ack`.
    static let acknowledgements: [(word: String, value: DeviceAcknowledgement)] = [
        ("stream", .stream), ("every-10", .streamEvery(10)), ("selective", .selective), ("twice", .twice),
        ("login", .never), ("never", .nothing),
    ]

    /// Reads the options.
    init(_ invocation: Invocation) throws(Failure) {
        if invocation.has("--no-ack"), invocation.has("--ack") {
            throw Failure(
                .usage, "--ack and --no-ack cannot be used together", hint: "--no-ack is --ack never")
        }
        let word = invocation.has("--no-ack") ? "never" : invocation.text("--ack") ?? "stream"
        acknowledgement = Self.acknowledgements.first { $0.word == word }?.value ?? .stream
        replays = invocation.has("--replay")
        halfCloses = invocation.has("--half-close")
        isIdle = invocation.has("--idle")
        heartbeatSeconds = invocation.integer("--heartbeat-seconds") ?? Limits.Device.pingSeconds
    }

    /// Configures a device before it connects.
    func apply(to device: DeviceClient) {
        device.heartbeatSeconds = heartbeatSeconds
        device.replays = replays
        device.setIdle(isIdle)
    }

    /// Applies the behaviour right after a login.
    func loggedIn(_ device: DeviceClient) {
        if isIdle { device.heartbeat() }
        if halfCloses { device.halfClose() }
    }
}

/// Timed actions of devices: upstream messages at a rate, and connections that break, one device after the other.
///
/// One timer serves all of them, so that ten thousand devices cost no more than one.
final class Activity {
    private let scene: Scene
    private let devices: () -> [DeviceClient]
    private let sendsPerSecond: Int
    private let flapSeconds: Int
    private var isEnded = false
    private var begun: Instant?
    private var breaks = 0
    private var nextToSend = 0
    private var nextToBreak = 0
    /// Messages given to devices to send.
    private(set) var sent = 0
    /// Messages that the server has acknowledged.
    private(set) var stored = 0

    /// Nothing happens before `begin`.
    init(_ scene: Scene, devices: @escaping () -> [DeviceClient]) {
        self.scene = scene
        self.devices = devices
        sendsPerSecond = scene.invocation.integer("--send-rate") ?? 0
        flapSeconds = scene.invocation.integer("--flap-seconds") ?? 0
    }

    /// Starts; a second call has no effect.
    func begin() {
        guard begun == nil, sendsPerSecond > 0 || flapSeconds > 0 else { return }
        begun = scene.reactor.now.monotonic
        beat(scene.reactor.now.monotonic)
    }

    /// Stops all actions.
    func end() { isEnded = true }

    /// Counts a message of a device that is stored.
    func countStored() { stored += 1 }

    private func beat(_ now: Instant) {
        guard !isEnded, let begun else { return }
        let elapsed = now.milliseconds(since: begun)
        let all = devices()
        let due = Int(elapsed) * sendsPerSecond / 1_000
        var tries = all.count
        while sent < due, tries > 0 {
            let device = all[nextToSend % all.count]
            nextToSend += 1
            tries -= 1
            if device.isReady { send(from: device) }
        }
        if flapSeconds > 0, !all.isEmpty {
            let wanted = Int(elapsed) * all.count / (flapSeconds * 1_000)
            while breaks < wanted {
                all[nextToBreak % all.count].dropConnection()
                nextToBreak += 1
                breaks += 1
            }
        }
        scene.reactor.schedule(at: now.advanced(milliseconds: Limits.Client.activityMilliseconds)) {
            [weak self] now in
            self?.beat(now.monotonic)
        }
    }

    private func send(from device: DeviceClient) {
        sent += 1
        let app = scene.app
        let id = "up-\(device.identity.androidID)-\(sent)"
        var message = Upstream(
            sender: SenderID(UInt64(app.sender) ?? 0), category: Array(app.category.utf8),
            messageID: Array(id.utf8), persistentID: Array(id.utf8))
        message.data = [(Array("n".utf8), Array(String(sent).utf8))]
        device.send(message)
    }
}
