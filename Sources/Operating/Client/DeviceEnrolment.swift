import Basics
public import ClientProtocol
public import Transport
import Wire

/// Creates devices by check-in and registration over HTTPS.
///
/// Used on the reactor's thread only; each enrolment opens and closes a connection of its own.
public enum DeviceEnrolment {
    /// The result: the device and its registration token.
    public typealias Outcome = DeviceEnrolmentMachine.Outcome

    /// Checks in, with the existing identity if given, and registers an app.
    public static func begin(
        _ identity: DeviceIdentity?, _ app: DeviceCalls.App, reactor: Reactor, endpoint: Endpoint,
        completion: @escaping (Outcome) -> Void
    ) {
        let client = HTTPClient(reactor: reactor, endpoint: endpoint)
        var machine = DeviceEnrolmentMachine(identity, app)
        func make(_ call: HTTPCall) {
            client.send(call) { answer in
                switch machine.handle(answer) {
                case .call(let next): make(next)
                case .done(let outcome):
                    client.close()
                    completion(outcome)
                }
            }
        }
        make(machine.first)
    }

    /// Enrols a device and runs the reactor until it is done. Must not be called from a callback.
    public static func run(
        _ identity: DeviceIdentity?, _ app: DeviceCalls.App, reactor: Reactor, endpoint: Endpoint
    ) throws(ClientError) -> (identity: DeviceIdentity, token: String) {
        var outcome: Outcome?
        begin(identity, app, reactor: reactor, endpoint: endpoint) { outcome = $0 }
        guard reactor.turn(seconds: 2 * Limits.Client.answerSeconds, until: { outcome != nil }), let outcome
        else { throw .noAnswer }
        return try outcome.get()
    }
}
