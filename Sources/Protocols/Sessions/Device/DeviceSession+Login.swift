import Basics
import Delivery
import Wire

/// Login (mcs-device 3.1).
extension DeviceSession {
    /// Sends the credentials to the core, which checks them.
    mutating func askToLogIn(_ login: MCS.LoginRequest, now: Now, io: inout SessionIO) {
        isAndroid = login.id.starts(with: "android-".utf8)
        hasRecordPerFrame = Self.waitsForSocket(login.id)
        isAskedWhetherIdle = settings.idleNotifications && Self.answersIdleQuestion(login.id)
        isIdle = settings.idleNotifications && Self.isIdle(login.status ?? 0)
        guard let number = DeviceNumber.parse(login.user.raw), number != 0,
            let token = DeviceNumber.parse(login.authToken.raw)
        else { return refuseLogin(.wrongCredentials, loginID: login.id, io: &io) }
        let device = DeviceID(number)
        state = .checking(device, loginID: login.id)
        if Self.isInconsistent(login, user: number) { io.counts.inconsistentLogins += 1 }
        pingSeconds = Self.pingSeconds(wishedIn: login, atMost: settings.devicePingSeconds)
        var text = ByteBuffer()
        text.append(decimal: token)
        let request = DeviceLogin(
            connection: connection, device: device, token: settings.digest(text.copied()),
            received: login.receivedIDs.compactMap { PersistentID(text: $0.raw) }, isIdle: isIdle)
        io.loginClaim = .device(device)
        io.events.append(.deviceLogin(request))
        io.isReading = false
    }

    /// Returns whether the client may wait for its socket to become readable while its TLS library still buffers frames.
    ///
    /// rustPlusPushReceiver does (mcs-device 6). Its login ID is that of most libraries, and of no current browser.
    private static func waitsForSocket(_ loginID: [UInt8]) -> Bool { loginID.starts(with: "chrome-63.".utf8) }

    /// Accepts the login. The messages that the device has listed as received are already removed durably.
    mutating func acceptLogin(of device: DeviceID, loginID: [UInt8], now: Now, io: inout SessionIO) {
        state = .open(device)
        reader.loginLimit = 0
        frameIDBase = UInt32(truncatingIfNeeded: settings.random())
        var response = MCS.LoginResponse()
        response.id = loginID
        response.jid = Self.jid(of: device)
        response.lastStreamIDReceived = upstream.takeAcknowledgement(incoming: 1)
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
        if isAskedWhetherIdle { askWhetherIdle(now: now, io: &io) }
        lastReceived = now.monotonic
        silenceDue = now.monotonic.advanced(seconds: pingSeconds)
        io.isReading = true
        guard !earlyBytes.isEmpty else { return }
        var waiting = ByteBuffer()
        swap(&waiting, &earlyBytes)
        read(waiting.bytes, now: now, io: &io)
        watchFrame(isNew: true, now: now)
        endCall(now: now, io: &io)
    }

    /// Refuses the login. If the server failed, it only closes the connection, so that the client tries again.
    ///
    /// One that guesses, by the limits of failed logins, gets no answer at all.
    mutating func refuseLogin(_ refusal: LoginRefusal, loginID: [UInt8], io: inout SessionIO) {
        guard refusal != .unavailable else { return end(.storeFailed, io: &io) }
        guard refusal != .tooManyFailures else { return end(.tooManyLogins, io: &io) }
        var response = MCS.LoginResponse()
        response.id = loginID
        response.error = MCS.ErrorInfo(code: 401, message: Array(refusal.rawValue.utf8))
        io.out.bytes.append(byte: MCS.version)
        response.append(to: &io.out.bytes)
        endFrame(io: &io)
        end(.loginRefused, io: &io)
    }

    /// Returns whether the fields of a login contradict each other, unlike those of all known clients. This is counted, but not
    /// a reason to refuse it.
    private static func isInconsistent(_ login: MCS.LoginRequest, user: UInt64) -> Bool {
        if DeviceNumber.parse(login.resource.raw) != user { return true }
        if let service = login.authService, service != 2 { return true }
        guard let deviceID = login.deviceID else { return false }
        return deviceID.map { $0 | 0x20 } != Array("android-\(String(user, radix: 16))".utf8)
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

    /// Returns the seconds between the server's pings: what the client requests, within `Limits.Device.shortestPingSeconds` and
    /// the configured interval.
    private static func pingSeconds(wishedIn login: MCS.LoginRequest, atMost longest: Int) -> Int {
        var wish: UInt64?
        if let stat = login.heartbeatStat, stat.intervalMilliseconds > 0 {
            wish = UInt64(stat.intervalMilliseconds)
        }
        for setting in login.settings where setting.name.elementsEqual("hbping".utf8) {
            wish = DeviceNumber.parse(setting.value.raw) ?? wish
        }
        guard let wish else { return longest }
        return min(longest, max(Limits.Device.shortestPingSeconds, Int(clamping: wish / 1_000)))
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
