import Basics
import Delivery
import Sessions
import Wire

/// A device session whose client and core are played by the test.
struct DeviceHarness: ~Copyable {
    static let device = DeviceID(5_000_000_000_000_000_001)
    static let connection = ConnectionID(reactor: 1, slot: 2, generation: 3)
    static let startWall: UnixMilliseconds = 1_600_000_000_000

    var session: DeviceSession
    var io = SessionIO()
    var now: Now
    /// What the server has sent since the last `takeSent`.
    private(set) var sent: [MCS.Message] = []
    /// The sizes of its records.
    private(set) var records: [Int] = []
    private var reader = MCS.FrameReader()
    private var error: MCSError?

    init(_ change: (inout SessionSettings) -> Void = { _ in }) {
        var settings = SessionSettings(
            seal: TokenSeal(secret: [UInt8](repeating: 7, count: 32)), digest: { SecretDigest(bytes: $0) },
            random: { 0xABCD_0000 })
        change(&settings)
        now = Now(monotonic: Instant(nanoseconds: 0), wall: Self.startWall)
        session = DeviceSession(connection: Self.connection, settings: SharedSettings(settings), now: now)
    }

    /// Returns a session that is logged in, without the outputs of the login.
    static func loggedIn(
        id: String = "chrome-63.0.3234.0", _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> DeviceHarness {
        var harness = DeviceHarness(change)
        harness.receive([MCS.version] + bytes(.loginRequest(login(id: id))))
        harness.perform(.device(.loginAccepted))
        _ = harness.takeSent()
        _ = harness.takeEvents()
        return harness
    }

    static func login(id: String = "chrome-63.0.3234.0") -> MCS.LoginRequest {
        var login = MCS.LoginRequest()
        login.id = Array(id.utf8)
        login.domain = Array("mcs.android.com".utf8)
        login.user = Array("5000000000000000001".utf8)
        login.resource = login.user
        login.authToken = Array("6000000000000000002".utf8)
        return login
    }

    static func bytes(_ message: MCS.Message) -> [UInt8] {
        var buffer = ByteBuffer()
        message.append(to: &buffer)
        return buffer.copied()
    }

    mutating func receive(_ bytes: [UInt8]) {
        session.receive(bytes.raw, now: now, io: &io)
        collect()
    }

    mutating func receive(_ messages: MCS.Message...) { receive(messages.flatMap(Self.bytes)) }

    mutating func perform(_ command: SessionCommand) {
        session.perform(command, now: now, io: &io)
        collect()
    }

    mutating func setCongested(_ isCongested: Bool) {
        session.outboundChanged(isCongested: isCongested, now: now, io: &io)
        collect()
    }

    mutating func end(_ reason: CloseReason) {
        session.ended(reason, now: now, io: &io)
        collect()
    }

    /// Advances both clocks, and wakes the session at each deadline within that time.
    mutating func pass(seconds: Int) {
        let end = now.monotonic.advanced(seconds: seconds)
        while io.close == nil, session.deadline <= end {
            move(to: max(session.deadline, now.monotonic))
            session.wake(now: now, io: &io)
            collect()
        }
        move(to: end)
    }

    private mutating func move(to instant: Instant) {
        now.wall += instant.milliseconds(since: now.monotonic)
        now.monotonic = instant
    }

    mutating func takeSent() -> [MCS.Message] {
        defer { sent = [] }
        return sent
    }

    mutating func takeEvents() -> [Event] {
        defer { io.events = [] }
        return io.events
    }

    private mutating func collect() {
        var start = 0
        for end in io.out.recordEnds {
            records.append(end - start)
            start = end
        }
        let output = io.out.bytes.copied()
        io.out.removeAll()
        var messages: [MCS.Message] = []
        do throws(MCSError) {
            try reader.read(output.raw) { (tag, message) throws(MCSError) in
                if let message = try MCS.Message(tag: tag, decoding: message) { messages.append(message) }
                return true
            }
        } catch {
            self.error = error
        }
        sent += messages
    }
}

/// Sample messages, downstream and upstream.
enum DeviceSamples {
    static func stored(
        _ number: UInt64, body: [UInt8] = pairs(("k", "v")), collapseKey: String? = nil,
        wantsReceipt: Bool = false,
        lifetimeSeconds: Int64 = 60, kind: StoredMessage.Kind = .message
    ) -> StoredMessage {
        StoredMessage(
            device: DeviceHarness.device, sequence: SequenceNumber(number), salt: 0x1234_5678,
            registration: RegistrationNumber(1), sender: SenderID(123), kind: kind,
            messageID: Array("m-1".utf8),
            collapseKey: collapseKey.map { Array($0.utf8) }, acceptedAt: DeviceHarness.startWall,
            expiresAt: DeviceHarness.startWall + lifetimeSeconds * 1_000, wantsReceipt: wantsReceipt,
            body: body)
    }

    static func delivery(
        _ message: StoredMessage, category: String = "com.example.app", subtype: String = "",
        web: WebKeys? = nil, isStored: Bool = true
    ) -> DeviceDelivery {
        let app = RegisteredApp(
            .init(category: Array(category.utf8), subtype: Array(subtype.utf8), web: web))
        return DeviceDelivery(message: message, app: app, from: Array("123".utf8), isStored: isStored)
    }

    static func upstream(
        id: String = "up-1", to: String = "123@gcm.googleapis.com", category: String = "com.example.app",
        persistentID: String? = "p-1", timeToLive: Int32? = 60
    ) -> MCS.DataMessage {
        var message = MCS.DataMessage()
        message.id = Array(id.utf8)
        message.from = Array("gcm@chrome.com".utf8)
        message.to = Array(to.utf8)
        message.category = Array(category.utf8)
        message.persistentID = persistentID.map { Array($0.utf8) }
        message.timeToLive = timeToLive
        message.body = pairs(("a", "b"))
        return message
    }

    static func pairs(_ pairs: (String, String)...) -> [UInt8] {
        var body = ByteBuffer()
        for (key, value) in pairs {
            AppData.append(key: Array(key.utf8).raw, value: Array(value.utf8).raw, to: &body)
        }
        return body.copied()
    }
}
