public import Basics

extension MCS {
    /// A message in either direction (tag 8, mcs-device 2).
    public struct DataMessage: Sendable, Equatable {
        /// Field numbers, for code that writes the fields one by one.
        public enum Field {
            public static let id = 2
            public static let from = 3
            public static let to = 4
            public static let category = 5
            public static let token = 6
            public static let appData = 7
            public static let fromTrustedServer = 8
            public static let persistentID = 9
            public static let streamID = 10
            public static let lastStreamIDReceived = 11
            public static let registrationID = 13
            public static let timeToLive = 17
            public static let sent = 18
            public static let queued = 19
            public static let status = 20
            public static let rawData = 21
            public static let immediateAck = 24
        }

        /// Downstream 8 hexadecimal digits; upstream the app's ID or a counter.
        public var id: [UInt8]?
        /// Downstream the sender; upstream unused.
        public var from: [UInt8] = []
        /// Upstream `SENDER_ID@gcm.googleapis.com`.
        public var to: [UInt8]?
        /// The app; required.
        public var category: [UInt8] = []
        /// The collapse key.
        public var token: [UInt8]?
        /// The pairs, each encoded as `AppData` does.
        public var body: [UInt8] = []
        /// Always sent as false by the server.
        public var fromTrustedServer: Bool?
        /// Identifies the message to both sides across connections.
        public var persistentID: [UInt8]?
        /// The sender's count of its frames; rarely sent.
        public var streamID: Int32?
        /// The number of frames received from the peer.
        public var lastStreamIDReceived: Int32?
        /// Upstream from microG: the registration token.
        public var registrationID: [UInt8]?
        /// Seconds to live.
        public var timeToLive: Int32?
        /// Downstream milliseconds since 1970; upstream seconds of one of two epochs.
        public var sent: Int64?
        /// Seconds between the app's send and this transmission.
        public var queued: Int32?
        /// Bit 0: the device is idle.
        public var status: Int64?
        /// The binary content of a Web Push message.
        public var rawData: [UInt8]?
        /// Asks the client to acknowledge at once.
        public var immediateAck: Bool?

        /// Creates an empty message.
        public init() {}

        /// Decodes the message of a frame. Throws if `category` is missing.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            var hasCategory = false
            var pairs = ByteBuffer()
            while let field = try fields.next() {
                switch field.number {
                case Field.id: id = try fields.array(field)
                case Field.from: from = try fields.array(field)
                case Field.to: to = try fields.array(field)
                case Field.category:
                    category = try fields.array(field)
                    hasCategory = true
                case Field.token: token = try fields.array(field)
                case Field.appData:
                    let entry = try fields.bytes(field)
                    let parts = try AppData.parts(of: entry)
                    AppData.append(
                        key: entry.extracting(parts.key), value: entry.extracting(parts.value), to: &pairs)
                case Field.fromTrustedServer: fromTrustedServer = try fields.bool(field)
                case Field.persistentID: persistentID = try fields.array(field)
                case Field.streamID: streamID = try fields.int32(field)
                case Field.lastStreamIDReceived: lastStreamIDReceived = try fields.int32(field)
                case Field.registrationID: registrationID = try fields.array(field)
                case Field.timeToLive: timeToLive = try fields.int32(field)
                case Field.sent: sent = try fields.int64(field)
                case Field.queued: queued = try fields.int32(field)
                case Field.status: status = try fields.int64(field)
                case Field.rawData: rawData = try fields.array(field)
                case Field.immediateAck: immediateAck = try fields.bool(field)
                default: try fields.skip(field)
                }
            }
            guard hasCategory else { throw .missingField(Field.category) }
            body = pairs.copied()
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            buffer.appendFrame(.dataMessage) { buffer in
                if let id { buffer.appendField(Field.id, bytes: id) }
                buffer.appendField(Field.from, bytes: from)
                if let to { buffer.appendField(Field.to, bytes: to) }
                buffer.appendField(Field.category, bytes: category)
                if let token { buffer.appendField(Field.token, bytes: token) }
                buffer.append(body)
                if let fromTrustedServer {
                    buffer.appendField(Field.fromTrustedServer, bool: fromTrustedServer)
                }
                if let persistentID { buffer.appendField(Field.persistentID, bytes: persistentID) }
                appendNumbers(to: &buffer)
                if let rawData { buffer.appendField(Field.rawData, bytes: rawData) }
                if let immediateAck { buffer.appendField(Field.immediateAck, bool: immediateAck) }
            }
        }

        private func appendNumbers(to buffer: inout ByteBuffer) {
            if let streamID { buffer.appendField(Field.streamID, varint: streamID) }
            if let lastStreamIDReceived {
                buffer.appendField(Field.lastStreamIDReceived, varint: lastStreamIDReceived)
            }
            if let registrationID { buffer.appendField(Field.registrationID, bytes: registrationID) }
            if let timeToLive { buffer.appendField(Field.timeToLive, varint: timeToLive) }
            if let sent { buffer.appendField(Field.sent, varint: sent) }
            if let queued { buffer.appendField(Field.queued, varint: queued) }
            if let status { buffer.appendField(Field.status, varint: status) }
        }
    }
}
