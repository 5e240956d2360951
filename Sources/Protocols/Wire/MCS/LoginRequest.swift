public import Basics

extension MCS {
    /// The first frame of a client (tag 2, mcs-device 2): its credentials and what it has received.
    public struct LoginRequest: Sendable, Equatable {
        /// The client software (`chrome-156.0.8078.79`, `android-30`); may be empty.
        public var id: [UInt8] = []
        /// `mcs.android.com`; ignored.
        public var domain: [UInt8] = []
        /// The Android ID in decimal.
        public var user: [UInt8] = []
        /// The Android ID in decimal again.
        public var resource: [UInt8] = []
        /// The security token in decimal; some clients send it as a signed number.
        public var authToken: [UInt8] = []
        /// `android-` and the Android ID in hexadecimal; ignored.
        public var deviceID: [UInt8]?
        /// Requested settings, such as `hbping`; only the first `Limits.MCS.loginSettings` are read.
        public var settings: [Setting] = []
        /// Persistent IDs received but possibly not yet acknowledged; only the last `Limits.MCS.receivedIDs` are read.
        public var receivedIDs: [[UInt8]] = []
        /// Whether the client adapts its heartbeat.
        public var adaptiveHeartbeat: Bool?
        /// The client's heartbeat statistics; the interval is treated as a request.
        public var heartbeatStat: HeartbeatStat?
        /// Always true.
        public var usesRMQ2: Bool?
        /// 2 (ANDROID_ID) or absent.
        public var authService: Int32?
        /// The type of network; all clients send 1.
        public var networkType: Int32?
        /// Bit 0: the device is idle.
        public var status: Int64?

        /// Creates an empty request.
        public init() {}

        /// Decodes the message of a frame. Throws if `user` or `auth_token` is missing.
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
                    // Clients append to the list, so the IDs of messages that may still be stored are at its end.
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

    /// A named setting in a login request.
    public struct Setting: Sendable, Equatable {
        /// The name, such as `new_vc` or `hbping`.
        public var name: [UInt8]
        /// The value as text.
        public var value: [UInt8]

        /// Creates a setting.
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

    /// A client's heartbeat statistics (mcs-device 2).
    public struct HeartbeatStat: Sendable, Equatable {
        /// The client's address; empty in practice.
        public var ip: [UInt8]
        /// Whether the last connection timed out.
        public var hasTimedOut: Bool
        /// The requested heartbeat interval in milliseconds.
        public var intervalMilliseconds: Int32

        /// Creates statistics.
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
