public import Basics

extension MCS {
    /// The server's first frame (tag 3, mcs-device 2).
    ///
    /// Some clients treat the mere presence of `error` as failure, so it is left out on success (mcs-device 2.2).
    public struct LoginResponse: Sendable, Equatable {
        /// `id` of the request.
        public var id: [UInt8] = []
        /// `AID@mcs.android.com/AID`.
        public var jid: [UInt8]?
        /// Why the login failed.
        public var error: ErrorInfo?
        /// The server's count of its frames; never sent by this server.
        public var streamID: Int32?
        /// The number of frames received from the client: 1.
        public var lastStreamIDReceived: Int32?
        /// How often the client should ping; never sent by this server.
        public var heartbeatConfig: HeartbeatConfig?
        /// Milliseconds since 1970.
        public var serverTimestamp: Int64?

        /// Creates an empty response.
        public init() {}

        /// Decodes the message of a frame.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: id = try fields.array(field)
                case 2: jid = try fields.array(field)
                case 3: error = try ErrorInfo(decoding: try fields.bytes(field))
                case 5: streamID = try fields.int32(field)
                case 6: lastStreamIDReceived = try fields.int32(field)
                case 7: heartbeatConfig = try HeartbeatConfig(decoding: try fields.bytes(field))
                case 8: serverTimestamp = try fields.int64(field)
                default: try fields.skip(field)
                }
            }
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            buffer.appendFrame(.loginResponse) { buffer in
                buffer.appendField(1, bytes: id)
                if let jid { buffer.appendField(2, bytes: jid) }
                if let error { buffer.appendField(3) { error.append(to: &$0) } }
                if let streamID { buffer.appendField(5, varint: streamID) }
                if let lastStreamIDReceived { buffer.appendField(6, varint: lastStreamIDReceived) }
                if let heartbeatConfig { buffer.appendField(7) { heartbeatConfig.append(to: &$0) } }
                if let serverTimestamp { buffer.appendField(8, varint: serverTimestamp) }
            }
        }
    }

    /// Why something failed.
    public struct ErrorInfo: Sendable, Equatable {
        /// A code like that of HTTP; 401 for wrong credentials.
        public var code: Int32
        /// The text for humans.
        public var message: [UInt8]?
        /// The machine-readable type.
        public var type: [UInt8]?

        /// Creates an error.
        public init(code: Int32, message: [UInt8]? = nil, type: [UInt8]? = nil) {
            self.code = code
            self.message = message
            self.type = type
        }

        init(decoding message: RawSpan) throws(MCSError) {
            self.init(code: 0)
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: code = try fields.int32(field)
                case 2: self.message = try fields.array(field)
                case 3: type = try fields.array(field)
                default: try fields.skip(field)
                }
            }
        }

        func append(to buffer: inout ByteBuffer) {
            buffer.appendField(1, varint: code)
            if let message { buffer.appendField(2, bytes: message) }
            if let type { buffer.appendField(3, bytes: type) }
        }
    }

    /// How a server configures a client's heartbeat.
    public struct HeartbeatConfig: Sendable, Equatable {
        /// Whether the client should send statistics.
        public var uploadsStat: Bool?
        /// An address.
        public var ip: [UInt8]?
        /// Milliseconds between pings.
        public var intervalMilliseconds: Int32?

        /// Creates a configuration.
        public init(uploadsStat: Bool? = nil, ip: [UInt8]? = nil, intervalMilliseconds: Int32? = nil) {
            self.uploadsStat = uploadsStat
            self.ip = ip
            self.intervalMilliseconds = intervalMilliseconds
        }

        init(decoding message: RawSpan) throws(MCSError) {
            self.init()
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: uploadsStat = try fields.bool(field)
                case 2: ip = try fields.array(field)
                case 3: intervalMilliseconds = try fields.int32(field)
                default: try fields.skip(field)
                }
            }
        }

        func append(to buffer: inout ByteBuffer) {
            if let uploadsStat { buffer.appendField(1, bool: uploadsStat) }
            if let ip { buffer.appendField(2, bytes: ip) }
            if let intervalMilliseconds { buffer.appendField(3, varint: intervalMilliseconds) }
        }
    }
}
