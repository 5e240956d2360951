public import Wire

/// Creates a device over HTTPS by check-in and registration (mcs-device 5): answers in, calls out.
public struct DeviceEnrolmentMachine: Sendable {
    /// The result: the device and its registration token.
    public typealias Outcome = Result<(identity: DeviceIdentity, token: String), ClientError>

    /// The next action of the owner.
    public enum Step: Sendable {
        /// Send this call.
        case call(HTTPCall)
        /// The enrolment is finished.
        case done(Outcome)
    }

    private let app: DeviceCalls.App
    /// The device, once checked in.
    private var device: DeviceIdentity?
    /// The first call to send.
    public let first: HTTPCall

    /// Starts an enrolment: a check-in, with the existing identity if given, and the registration of an app.
    public init(_ identity: DeviceIdentity?, _ app: DeviceCalls.App) {
        self.app = app
        first = DeviceCalls.checkIn(identity)
    }

    /// Processes the answer to the last call. Returns the next action.
    public mutating func handle(_ answer: Result<HTTPAnswer, ClientError>) -> Step {
        do throws(ClientError) {
            if let device { return .done(.success((device, try DeviceCalls.token(try answer.get())))) }
            let device = try DeviceCalls.identity(try answer.get())
            self.device = device
            return .call(DeviceCalls.register(app, device))
        } catch { return .done(.failure(error)) }
    }
}
