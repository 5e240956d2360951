public import Basics

extension MCS {
    /// The last frame of a connection (tag 4): the peer should reconnect (mcs-device 3.7). It has no fields.
    public struct Close: Sendable, Equatable {
        /// Creates a close frame.
        public init() {}

        /// Decodes the message of a frame; all fields are skipped.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            while let field = try fields.next() { try fields.skip(field) }
        }

        /// Appends the whole frame: the bytes 04 00.
        public func append(to buffer: inout ByteBuffer) {
            buffer.append(byte: Tag.close.rawValue)
            buffer.append(byte: 0)
        }
    }

    /// A stream error (tag 10); never sent by this server, since old clients fail on it (mcs-device 1.3).
    public struct StreamError: Sendable, Equatable {
        /// The machine-readable type.
        public var type: [UInt8]
        /// The text for humans.
        public var text: [UInt8]?

        /// Creates a stream error.
        public init(type: [UInt8], text: [UInt8]? = nil) {
            self.type = type
            self.text = text
        }

        /// Decodes the message of a frame.
        public init(decoding message: RawSpan) throws(MCSError) {
            self.init(type: [])
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 1: type = try fields.array(field)
                case 2: text = try fields.array(field)
                default: try fields.skip(field)
                }
            }
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            buffer.appendFrame(.streamError) { buffer in
                buffer.appendField(1, bytes: type)
                if let text { buffer.appendField(2, bytes: text) }
            }
        }
    }
}
