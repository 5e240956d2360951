import Basics
import Delivery
import Wire

/// Login (mcs-device 3.1).
extension DeviceSession {
    /// The state before the login is accepted.
    struct Login: ~Copyable {
        /// When the login must be accepted.
        let deadline: Instant
        /// Why the connection ends right after the login; `nil` if it may stay.
        var end: CloseReason?
        /// The client whose login the core checks. Its login ID is repeated in the answer and then dropped, because an
        /// unauthenticated peer chose its length.
        var request: (client: Client, loginID: [UInt8])?
        /// Bytes received while the login is checked.
        var early = ByteBuffer()
    }

    /// Reads the login, and buffers what follows until it is answered.
    mutating func receive(_ bytes: RawSpan, in login: inout Login, io: inout SessionIO) {
        var taken = 0
        if login.request == nil {
            var request: MCS.LoginRequest?
            do throws(MCSError) {
                taken = try reader.read(bytes) { (tag, message) throws(MCSError) in
                    guard tag == MCS.Tag.loginRequest.rawValue else { throw .invalidTag(tag) }
                    request = try MCS.LoginRequest(decoding: message)
                    return false
                }
            } catch {
                io.close = error.closeReason
            }
            guard let request, let client = askToLogIn(request, io: &io) else { return }
            login.request = (client, request.id)
        }
        guard login.early.count + bytes.byteCount - taken <= Limits.AppServer.unreadBytes else {
            return io.close = .tooLarge
        }
        login.early.append(bytes.extracting(taken..<bytes.byteCount))
    }

    /// Sends the credentials to the core, which checks them. Returns `nil` if they are refused at once.
    private func askToLogIn(_ login: MCS.LoginRequest, io: inout SessionIO) -> Client? {
        guard let number = DeviceNumber.parse(login.user.raw), number != 0,
            let token = DeviceNumber.parse(login.authToken.raw)
        else {
            refuseLogin(.wrongCredentials, loginID: login.id, io: &io)
            return nil
        }
        let client = Client(DeviceID(number), login, shared.value)
        if Self.isInconsistent(login, user: number) { io.counts.inconsistentLogins += 1 }
        var text = ByteBuffer()
        text.append(decimal: token)
        let request = DeviceLogin(
            connection: connection, device: client.device, token: shared.value.digest(text.copied()),
            received: login.receivedIDs.compactMap { PersistentID(text: $0.raw) }, isIdle: client.isIdle)
        io.loginClaim = .device(client.device)
        io.events.append(.deviceLogin(request))
        io.isReading = false
        return client
    }

    /// Performs a command before the login is accepted. Returns the next state.
    mutating func perform(
        _ command: SessionCommand, in login: consuming Login, now: Now, io: inout SessionIO
    ) -> State {
        switch command {
        case .device(.loginAccepted):
            guard let request = login.request else { break }
            reader.loginLimit = 0
            var open = Open(request.client, connection, shared, now: now)
            open.answerLogin(request.loginID, now: now, io: &io)
            open.receive(login.early.bytes, with: &reader, now: now, io: &io)
            if let end = login.end { open.close(end, io: &io) }
            return .open(open)
        case .device(.loginRefused(let refusal)):
            if let request = login.request { refuseLogin(refusal, loginID: request.loginID, io: &io) }
        // A device that has connected to log in gets its answer before the connection ends: without one it would assume an outage.
        case .connection(.endWhenIdle(_, let reason)): login.end = reason
        case .connection(.close(let reason)): io.close = reason
        case .device, .connection: break
        case .appServer, .submission, .reply: io.rejectMisdirected(command)
        }
        return .login(login)
    }

    /// Refuses the login. If the server failed, it only closes the connection, so that the client tries again.
    ///
    /// One that guesses, by the limits of failed logins, gets no answer at all.
    private func refuseLogin(_ refusal: LoginRefusal, loginID: [UInt8], io: inout SessionIO) {
        guard refusal != .unavailable else { return io.close = .storeFailed }
        guard refusal != .tooManyFailures else { return io.close = .tooManyLogins }
        var response = MCS.LoginResponse()
        response.id = loginID
        response.error = MCS.ErrorInfo(code: 401, message: Array(refusal.rawValue.utf8))
        io.out.bytes.append(byte: MCS.version)
        response.append(to: &io.out.bytes)
        io.out.endRecord()
        io.close = .loginRefused
    }

    /// Returns whether the fields of a login contradict each other, unlike those of all known clients. This is counted, but not
    /// a reason to refuse it.
    private static func isInconsistent(_ login: MCS.LoginRequest, user: UInt64) -> Bool {
        if DeviceNumber.parse(login.resource.raw) != user { return true }
        if let service = login.authService, service != 2 { return true }
        guard let deviceID = login.deviceID else { return false }
        return deviceID.map { $0 | 0x20 } != Array("android-\(String(user, radix: 16))".utf8)
    }

    /// What the login reveals about the client.
    struct Client {
        let device: DeviceID
        /// Whether the client puts the app's message ID in `persistent_id` (mcs-device 4.1).
        let isAndroid: Bool
        /// Whether each frame has a TLS record of its own, for a client that waits for its socket to become readable while its TLS
        /// library still buffers frames.
        ///
        /// rustPlusPushReceiver does (mcs-device 6). Its login ID is that of most libraries, and of no current browser.
        let hasRecordPerFrame: Bool
        /// Whether the client is asked after the login if it is idle.
        let isAskedWhetherIdle: Bool
        /// The idle state that the client reported last.
        var isIdle: Bool
        /// Seconds of silence before a ping: what the client requests, within `Limits.Device.shortestPingSeconds` and the configured
        /// interval.
        let pingSeconds: Int

        init(_ device: DeviceID, _ login: MCS.LoginRequest, _ settings: SessionSettings) {
            self.device = device
            isAndroid = login.id.starts(with: "android-".utf8)
            hasRecordPerFrame = login.id.starts(with: "chrome-63.".utf8)
            isAskedWhetherIdle = settings.idleNotifications && Self.answersIdleQuestion(login.id)
            isIdle = settings.idleNotifications && Self.isIdle(login.status ?? 0)
            var wish: UInt64?
            if let stat = login.heartbeatStat, stat.intervalMilliseconds > 0 {
                wish = UInt64(stat.intervalMilliseconds)
            }
            for setting in login.settings where setting.name.elementsEqual("hbping".utf8) {
                wish = DeviceNumber.parse(setting.value.raw) ?? wish
            }
            let wished = wish.map { max(Limits.Device.shortestPingSeconds, Int(clamping: $0 / 1_000)) }
            pingSeconds = min(settings.devicePingSeconds, wished ?? .max)
        }
    }
}

extension DeviceSession.Open {
    /// Accepts the login. The messages that the device has listed as received are already removed durably.
    mutating func answerLogin(_ loginID: [UInt8], now: Now, io: inout SessionIO) {
        var response = MCS.LoginResponse()
        response.id = loginID
        response.jid = Self.jid(of: device)
        response.lastStreamIDReceived = upstream.takeAcknowledgement(incoming: incoming)
        if settings.deviceHeartbeatSeconds > 0 {
            response.heartbeatConfig = MCS.HeartbeatConfig(
                intervalMilliseconds: Int32(clamping: settings.deviceHeartbeatSeconds * 1_000))
        }
        response.serverTimestamp = now.wall
        io.out.bytes.append(byte: MCS.version)
        response.append(to: &io.out.bytes)
        endFrame(io: &io)
        // One client counts connections that end before any frame but the response (mcs-device 3.7). The ack lists no upstream
        // message: the ID may be that of a new message, which the client would take for stored. Repeated messages are detected
        // (mcs-device 4.2).
        MCS.IqStanza(.selectiveAck([])).append(to: &io.out.bytes)
        endFrame(io: &io)
        if client.isAskedWhetherIdle { askWhetherIdle(now: now, io: &io) }
        io.isReading = true
    }

    private static func jid(of device: DeviceID) -> [UInt8] {
        var text = ByteBuffer()
        text.append(decimal: device.number)
        text.append("@")
        text.append(MCS.domain)
        text.append("/")
        text.append(decimal: device.number)
        return text.copied()
    }
}

/// Decimal numbers as clients write them.
enum DeviceNumber {
    /// Parses a 64-bit number, which some clients write as signed (mcs-device 3.1). Returns `nil` for anything else.
    static func parse(_ text: borrowing RawSpan) -> UInt64? {
        let isNegative = text.byteCount > 1 && text.byte(at: 0) == UInt8(ascii: "-")
        guard let number = parseUnsigned(text, from: isNegative ? 1 : 0, to: text.byteCount) else {
            return nil
        }
        guard isNegative else { return number }
        return number <= 1 << 63 ? 0 &- number : nil
    }

    /// Parses a part of a text. Returns `nil` unless it consists of 1 to 20 digits and fits 64 bits.
    static func parseUnsigned(_ text: borrowing RawSpan, from start: Int, to end: Int) -> UInt64? {
        guard end > start, end - start <= 20 else { return nil }
        var number: UInt64 = 0
        for at in start..<end {
            let digit = text.byte(at: at) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (product, over) = number.multipliedReportingOverflow(by: 10)
            let (sum, past) = product.addingReportingOverflow(UInt64(digit))
            guard !over, !past else { return nil }
            number = sum
        }
        return number
    }
}
