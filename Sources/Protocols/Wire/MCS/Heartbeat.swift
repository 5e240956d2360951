public import Basics

extension MCS {
    /// A heartbeat ping or ack (tags 0 and 1, mcs-device 2); usually without any field.
    public struct Heartbeat: Sendable, Equatable {
        /// The sender's count of its frames, this one included.
        public var streamID: Int32?
        /// The number of frames received from the peer.
        public var lastStreamIDReceived: Int32?
        /// Bit 0: the device is idle; the ack repeats it.
        public var status: Int64?

        /// Creates a heartbeat.
        public init(streamID: Int32? = nil, lastStreamIDReceived: Int32? = nil, status: Int64? = nil) {
            self.streamID = streamID
            self.lastStreamIDReceived = lastStreamIDReceived
            self.status = status
        }

        /// Decodes the message of a frame.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: streamID = try fields.int32(field)
                case 2: lastStreamIDReceived = try fields.int32(field)
                case 3: status = try fields.int64(field)
                default: try fields.skip(field)
                }
            }
        }

        /// Appends the whole frame, as `.heartbeatPing` or `.heartbeatAck`.
        public func append(as tag: Tag, to buffer: inout ByteBuffer) {
            assert(
                tag == .heartbeatPing || tag == .heartbeatAck,
                "invalid tag: expected heartbeatPing or heartbeatAck")
            buffer.appendFrame(tag) { buffer in
                if let streamID { buffer.appendField(1, varint: streamID) }
                if let lastStreamIDReceived { buffer.appendField(2, varint: lastStreamIDReceived) }
                if let status { buffer.appendField(3, varint: status) }
            }
        }
    }
}
