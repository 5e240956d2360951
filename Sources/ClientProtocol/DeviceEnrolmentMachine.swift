public import Wire

/// Makes a device over HTTPS: check-in, then registration (mcs-device 5). Answers in, calls out.
public struct DeviceEnrolmentMachine: Sendable {
    /// What came of it: the device, and its registration token.
    public typealias Outcome = Result<(identity: DeviceIdentity, token: String), ClientError>

    /// What to do next.
    public enum Step: Sendable {
        /// Make this call.
        case call(HTTPCall)
        /// It is over.
        case done(Outcome)
    }

    private let app: DeviceCalls.App
    /// The device, once checked in.
    private var device: DeviceIdentity?
    /// The call to begin with.
    public let first: HTTPCall

    /// Checks in (a known device keeps its numbers) and registers an app.
    public init(_ identity: DeviceIdentity?, _ app: DeviceCalls.App) {
        self.app = app
        first = DeviceCalls.checkIn(identity)
    }

    /// Takes the answer to the last call.
    public mutating func take(_ answer: Result<HTTPAnswer, ClientError>) -> Step {
        do throws(ClientError) {
            if let device { return .done(.success((device, try DeviceCalls.token(try answer.get())))) }
            let device = try DeviceCalls.identity(try answer.get())
            self.device = device
            return .call(DeviceCalls.register(app, device))
        } catch { return .done(.failure(error)) }
    }
}
