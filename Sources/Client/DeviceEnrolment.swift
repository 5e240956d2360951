import Basics
public import Transport

/// Makes devices: check-in and registration over HTTPS.
///
/// Used on the reactor's thread only; each enrolment has a connection of its own and ends it.
public enum DeviceEnrolment {
    /// What came of it: the device, and its registration token.
    public typealias Outcome = Result<(identity: DeviceIdentity, token: String), ClientError>

    /// Checks in (a known device keeps its numbers) and registers an app.
    public static func begin(
        _ identity: DeviceIdentity?, _ app: DeviceCalls.App, reactor: Reactor, endpoint: Endpoint,
        completion: @escaping (Outcome) -> Void
    ) {
        let client = HTTPClient(reactor: reactor, endpoint: endpoint)
        let fail = { (error: ClientError) in
            client.close()
            completion(.failure(error))
        }
        client.send(DeviceCalls.checkIn(identity)) { answer in
            do throws(ClientError) {
                let identity = try DeviceCalls.identity(try answer.get())
                client.send(DeviceCalls.register(app, identity)) { answer in
                    do throws(ClientError) {
                        let token = try DeviceCalls.token(try answer.get())
                        client.close()
                        completion(.success((identity, token)))
                    } catch { fail(error) }
                }
            } catch { fail(error) }
        }
    }

    /// The same, turning the reactor until it is done; not from within a callback.
    public static func run(
        _ identity: DeviceIdentity?, _ app: DeviceCalls.App, reactor: Reactor, endpoint: Endpoint
    ) throws(ClientError) -> (identity: DeviceIdentity, token: String) {
        var outcome: Outcome?
        begin(identity, app, reactor: reactor, endpoint: endpoint) { outcome = $0 }
        guard reactor.turn(seconds: 2 * Limits.clientAnswerSeconds, until: { outcome != nil }), let outcome
        else { throw .noAnswer }
        return try outcome.get()
    }
}
