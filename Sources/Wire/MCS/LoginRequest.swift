public import Basics

extension MCS {
    /// The first frame of a client (tag 2, mcs-device 2): who it is and what it has.
    public struct LoginRequest: Sendable, Equatable {
        /// What client it is (`chrome-156.0.8078.79`, `android-30`); may be empty.
        public var id: [UInt8] = []
        /// `mcs.android.com`; not looked at.
        public var domain: [UInt8] = []
        /// The Android id in decimal.
        public var user: [UInt8] = []
        /// The same.
        public var resource: [UInt8] = []
        /// The security token in decimal, by some clients as a signed number.
        public var authToken: [UInt8] = []
        /// `android-` and the Android id in hexadecimal; not looked at.
        public var deviceID: [UInt8]?
        /// Wishes, of which `hbping` is one; the first `Limits.MCS.loginSettings` are kept.
        public var settings: [Setting] = []
        /// Persistent ids received and not yet known to be acknowledged; the last `Limits.MCS.receivedIDs` are kept.
        public var receivedIDs: [[UInt8]] = []
        /// Whether the client adapts its heartbeat.
        public var adaptiveHeartbeat: Bool?
        /// What the client says of its heartbeat; its interval is taken for a wish.
        public var heartbeatStat: HeartbeatStat?
        /// Always true.
        public var usesRMQ2: Bool?
        /// 2 (ANDROID_ID) or absent.
        public var authService: Int32?
        /// Kind of network; 1 is what all send.
        public var networkType: Int32?
        /// Bit 0: the device is idle.
        public var status: Int64?

        /// An empty request, for a client to fill.
        public init() {}

        /// Reads the message of a frame; `user` and `auth_token` must be there.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            var hasUser = false
            var hasToken = false
            while let field = try fields.next() {
                switch field.number {
                case 1: id = try fields.array(field)
                case 2: domain = try fields.array(field)
                case 3:
                    user = try fields.array(field)
                    hasUser = true
                case 4: resource = try fields.array(field)
                case 5:
                    authToken = try fields.array(field)
                    hasToken = true
                case 6: deviceID = try fields.array(field)
                case 8:
                    let setting = try Setting(decoding: try fields.bytes(field))
                    if settings.count < Limits.MCS.loginSettings { settings.append(setting) }
                case 10:
                    let received = try fields.bytes(field)
                    // Lists grow at their end: what is new, and may still be stored, stands there.
                    if receivedIDs.count == 2 * Limits.MCS.receivedIDs {
                        receivedIDs.removeFirst(Limits.MCS.receivedIDs)
                    }
                    receivedIDs.append([UInt8](copying: received))
                case 12: adaptiveHeartbeat = try fields.bool(field)
                case 13: heartbeatStat = try HeartbeatStat(decoding: try fields.bytes(field))
                case 14: usesRMQ2 = try fields.bool(field)
                case 16: authService = try fields.int32(field)
                case 17: networkType = try fields.int32(field)
                case 18: status = try fields.int64(field)
                default: try fields.skip(field)
                }
            }
            receivedIDs.removeFirst(max(0, receivedIDs.count - Limits.MCS.receivedIDs))
            guard hasUser else { throw .missingField(3) }
            guard hasToken else { throw .missingField(5) }
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            buffer.appendFrame(.loginRequest) { buffer in
                buffer.appendField(1, bytes: id)
                buffer.appendField(2, bytes: domain)
                buffer.appendField(3, bytes: user)
                buffer.appendField(4, bytes: resource)
                buffer.appendField(5, bytes: authToken)
                if let deviceID { buffer.appendField(6, bytes: deviceID) }
                for setting in settings { buffer.appendField(8) { setting.append(to: &$0) } }
                for received in receivedIDs { buffer.appendField(10, bytes: received) }
                if let adaptiveHeartbeat { buffer.appendField(12, bool: adaptiveHeartbeat) }
                if let heartbeatStat { buffer.appendField(13) { heartbeatStat.append(to: &$0) } }
                if let usesRMQ2 { buffer.appendField(14, bool: usesRMQ2) }
                if let authService { buffer.appendField(16, varint: authService) }
                if let networkType { buffer.appendField(17, varint: networkType) }
                if let status { buffer.appendField(18, varint: status) }
            }
        }
    }

    /// A named wish in a login or its answer.
    public struct Setting: Sendable, Equatable {
        /// Its name, such as `new_vc` or `hbping`.
        public var name: [UInt8]
        /// Its value as text.
        public var value: [UInt8]

        /// A wish.
        public init(name: [UInt8], value: [UInt8]) {
            self.name = name
            self.value = value
        }

        init(decoding message: RawSpan) throws(MCSError) {
            self.init(name: [], value: [])
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: name = try fields.array(field)
                case 2: value = try fields.array(field)
                default: try fields.skip(field)
                }
            }
        }

        func append(to buffer: inout ByteBuffer) {
            buffer.appendField(1, bytes: name)
            buffer.appendField(2, bytes: value)
        }
    }

    /// What a client tells of its heartbeat (mcs-device 2).
    public struct HeartbeatStat: Sendable, Equatable {
        /// Its address; empty in practice.
        public var ip: [UInt8]
        /// Whether the last connection timed out.
        public var hasTimedOut: Bool
        /// Milliseconds between heartbeats that it wants.
        public var intervalMilliseconds: Int32

        /// A statistic.
        public init(ip: [UInt8] = [], hasTimedOut: Bool, intervalMilliseconds: Int32) {
            self.ip = ip
            self.hasTimedOut = hasTimedOut
            self.intervalMilliseconds = intervalMilliseconds
        }

        init(decoding message: RawSpan) throws(MCSError) {
            self.init(hasTimedOut: false, intervalMilliseconds: 0)
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: ip = try fields.array(field)
                case 2: hasTimedOut = try fields.bool(field)
                case 3: intervalMilliseconds = try fields.int32(field)
                default: try fields.skip(field)
                }
            }
        }

        func append(to buffer: inout ByteBuffer) {
            buffer.appendField(1, bytes: ip)
            buffer.appendField(2, bool: hasTimedOut)
            buffer.appendField(3, varint: intervalMilliseconds)
        }
    }
}
