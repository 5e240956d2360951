public import Basics
public import Delivery
import Wire

/// The server's side of a device connection: login, messages both ways, acknowledgements and heartbeats (mcs-device 1 to 4).
public struct DeviceSession: ~Copyable, ProtocolSession {
    enum State: ~Copyable {
        /// Only a login is accepted, or the core checks it.
        case login(Login)
        /// Logged in.
        case open(Open)
        /// The session has ended; nothing is read or written any more. The end of the connection is still to be reported for this
        /// device.
        case ended(DeviceID?)
    }

    let connection: ConnectionID
    let shared: SharedSettings
    private var state: State
    var reader = MCS.FrameReader(loginLimit: Limits.MCS.loginFrameBytes)
    private var isCongested = false

    /// Creates a session on a connection whose TLS handshake has just completed.
    public init(connection: ConnectionID, settings: SharedSettings, now: Now) {
        self.connection = connection
        shared = settings
        state = .login(
            Login(deadline: now.monotonic.advanced(seconds: settings.value.loginDeadlineSeconds)))
    }

    /// The device that the core associates with this connection, so that its end must be reported; `nil` before the login.
    private var device: DeviceID? {
        switch state {
        case .login(let login): login.request?.client.device
        case .open(let open): open.device
        case .ended(let device): device
        }
    }

    public var deadline: Instant {
        switch state {
        case .login(let login): login.deadline
        case .open(let open): open.deadline
        case .ended: .distantFuture
        }
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        switch exchange(&state, with: .ended(nil)) {
        case .login(var login):
            receive(bytes, in: &login, io: &io)
            state = .login(login)
        case .open(var open):
            open.receive(bytes, with: &reader, now: now, io: &io)
            state = .open(open)
        case .ended(let device): state = .ended(device)
        }
        endCall(io)
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        switch exchange(&state, with: .ended(nil)) {
        case .login(let login): state = perform(command, in: login, now: now, io: &io)
        case .open(var open):
            open.perform(command, isCongested: isCongested, now: now, io: &io)
            state = .open(open)
        // The command was on its way when the session closed or its login was refused.
        case .ended(let device): state = .ended(device)
        }
        endCall(io)
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        guard now.monotonic >= deadline else { return }
        if !ifOpen({ $0.wake(now: now, io: &io) }) { io.close = .loginDeadline }
        endCall(io)
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        guard isCongested != self.isCongested else { return }
        self.isCongested = isCongested
        ifOpen { $0.report(isCongested: isCongested, io: &io) }
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {
        if let device { io.events.append(.deviceClosed(connection, device)) }
        state = .ended(nil)
    }

    /// Changes the open state. Returns false in another one.
    @discardableResult
    private mutating func ifOpen(_ change: (inout Open) -> Void) -> Bool {
        switch exchange(&state, with: .ended(nil)) {
        case .open(var open):
            change(&open)
            state = .open(open)
            return true
        case let other:
            state = other
            return false
        }
    }

    /// Ends a call: the session has ended if the connection closes.
    private mutating func endCall(_ io: borrowing SessionIO) {
        if io.close != nil { state = .ended(device) }
    }
}
