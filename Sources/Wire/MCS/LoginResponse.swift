package import Basics

extension MCS {
    /// The server's first frame (tag 3, mcs-device 2).
    ///
    /// Some clients take the mere presence of `error` for failure, so success leaves it out (mcs-device 2.2).
    package struct LoginResponse: Sendable, Equatable {
        /// `id` of the request.
        package var id: [UInt8] = []
        /// `AID@mcs.android.com/AID`.
        package var jid: [UInt8]?
        /// Why the login failed.
        package var error: ErrorInfo?
        /// Count of the server's frames; not sent by us.
        package var streamID: Int32?
        /// Count of the client's frames received: 1.
        package var lastStreamIDReceived: Int32?
        /// How often the client is to ping; not sent by us.
        package var heartbeatConfig: HeartbeatConfig?
        /// Milliseconds since 1970.
        package var serverTimestamp: Int64?

        /// An empty response, for a server to fill.
        package init() {}

        /// Reads the message of a frame.
        package init(decoding message: RawSpan) throws(MCSError) {
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
        package func append(to buffer: inout ByteBuffer) {
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
    package struct ErrorInfo: Sendable, Equatable {
        /// A number in the manner of HTTP; 401 for wrong credentials.
        package var code: Int32
        /// Words for people.
        package var message: [UInt8]?
        /// A word for programs.
        package var type: [UInt8]?

        /// An error.
        package init(code: Int32, message: [UInt8]? = nil, type: [UInt8]? = nil) {
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

    /// How a server wants a client to ping.
    package struct HeartbeatConfig: Sendable, Equatable {
        /// Whether statistics are wanted.
        package var uploadsStat: Bool?
        /// An address.
        package var ip: [UInt8]?
        /// Milliseconds between pings.
        package var intervalMilliseconds: Int32?

        /// A configuration.
        package init(uploadsStat: Bool? = nil, ip: [UInt8]? = nil, intervalMilliseconds: Int32? = nil) {
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
