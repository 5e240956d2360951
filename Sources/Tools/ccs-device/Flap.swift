import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// `flap`: logs in and breaks the connection repeatedly, like a device on a bad network.
final class Flap {
    private let scene: Scene
    private var state: DeviceState
    private var device: DeviceClient
    private var messages = 0
    private var repeated = 0
    private var seen: Set<[UInt8]> = []

    init(_ scene: Scene) throws(Failure) {
        self.scene = scene
        state = try DeviceState.require(scene.statePath)
        device = DeviceClient(
            reactor: scene.reactor, endpoint: scene.device, identity: state.identity, received: state.received
        )
        device.onEvent = { [unowned self] _, event, _ in
            guard case .message(let message) = event else { return }
            messages += 1
            if !message.persistentID.isEmpty, !seen.insert(message.persistentID).inserted { repeated += 1 }
        }
    }

    func run() throws(Failure) -> ExitCode {
        let times = scene.invocation.integer("--times") ?? 10
        let milliseconds = scene.invocation.integer("--every-milliseconds") ?? 1_000
        var logins = 0
        var attempts = 0
        while attempts < times, !scene.isInterrupted {
            attempts += 1
            do throws(TransportError) { try device.connect() } catch { throw Failure(error) }
            let end = Now.read().monotonic.advanced(milliseconds: Int64(milliseconds))
            while !scene.isInterrupted, device.isConnected {
                let left = end.milliseconds(since: Now.read().monotonic)
                guard left > 0 else { break }
                scene.reactor.turn(waitMilliseconds: Int(left))
            }
            if device.isReady { logins += 1 }
            device.abort()
            scene.waitUntilClosed { !device.isConnected }
        }
        state.received = device.unconfirmed
        try state.write(scene.statePath)
        scene.output.report(
            "summary",
            [
                JSONValue.Member("attempts", .integer(attempts)),
                JSONValue.Member("logins", .integer(logins)),
                JSONValue.Member("messages", .integer(messages)),
                JSONValue.Member("repeated", .integer(repeated)),
            ],
            "\(logins) logins in \(attempts) attempts; \(messages) messages arrived, \(repeated) of them repeatedly"
        )
        return logins > 0 ? .success : .unavailable
    }
}
