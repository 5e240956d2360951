import Basics
import Catalogue
import Client
import ClientProtocol
import Transport
import Wire

/// What all commands share: options, reactor, servers, state and output.
final class Scene {
    let invocation: Invocation
    let reactor: Reactor
    let https: Endpoint
    let device: Endpoint
    let output: Output
    let statePath: String
    private let signals: Signals
    private let host: String
    private let tls: TLSClientSettings
    private var hasSignal = false
    /// Whether the user has interrupted the program, or it cannot print what happens.
    var isInterrupted: Bool { hasSignal || StandardOutput.hasFailed }

    init(_ invocation: Invocation) throws(Failure) {
        self.invocation = invocation
        output = Output(isJSON: Output.isJSON(invocation))
        statePath = invocation.text("--state") ?? "./ccs-device.json"
        let tls = try Self.tls(invocation)
        let host = invocation.text("--server") ?? "127.0.0.1"
        self.tls = tls
        self.host = host
        do throws(TransportError) {
            signals = try Signals()
            reactor = try Reactor(index: 0)
            https = try Endpoint(
                host: host, port: UInt16(invocation.integer("--https-port") ?? 8_443), tls: tls)
            device = try Endpoint(
                host: host, port: UInt16(invocation.integer("--device-port") ?? 5_228), tls: tls)
            try reactor.watch(signals.descriptor) { [unowned self] _ in
                while signals.next() != nil { hasSignal = true }
            }
        } catch { throw Failure(error) }
    }

    private static func tls(_ invocation: Invocation) throws(Failure) -> TLSClientSettings {
        do throws(TransportError) {
            if invocation.has("--insecure") { return try TLSClientSettings(trust: .anyone) }
            return try TLSClientSettings(trust: .file(invocation.text("--ca") ?? "./ccs-data/ca.pem"))
        } catch {
            throw Failure(
                .inputOutput, error.description,
                hint: "give the CA of the server with --ca FILE, or use --insecure on your own machine")
        }
    }

    /// Returns another port of the server.
    func endpoint(port: Int) throws(TransportError) -> Endpoint {
        try Endpoint(host: host, port: UInt16(port), tls: tls)
    }

    /// The origin of the server's HTTPS port, for URLs.
    var origin: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return "https://\(name):\(invocation.integer("--https-port") ?? 8_443)"
    }

    /// The app and the sender of the options.
    var app: DeviceCalls.App {
        DeviceCalls.App(
            category: invocation.text("--app") ?? "com.example.app",
            sender: invocation.text("--sender") ?? "",
            instance: invocation.text("--instance"))
    }

    /// Turns the reactor until a condition holds, the user interrupts, or `seconds` have passed (`nil`: no limit).
    func wait(seconds: Int?, until isDone: () -> Bool) -> Bool {
        _ = reactor.turn(seconds: seconds ?? .max) { isDone() || isInterrupted }
        return isDone()
    }

    /// Waits until closed connections have sent their pending output.
    func waitUntilClosed(_ isClosed: () -> Bool) { _ = reactor.turn(seconds: 5, until: isClosed) }
}
