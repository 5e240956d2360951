public import Basics

extension MCS {
    /// The last frame (tag 4): come again; it says nothing else (mcs-device 3.7).
    public struct Close: Sendable, Equatable {
        /// The end.
        public init() {}

        /// Reads the message of a frame; there are no fields to know.
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

    /// A complaint about the stream (tag 10); never sent by us: old clients break on it (mcs-device 1.3).
    public struct StreamError: Sendable, Equatable {
        /// A word for programs.
        public var type: [UInt8]
        /// Words for people.
        public var text: [UInt8]?

        /// A complaint.
        public init(type: [UInt8], text: [UInt8]? = nil) {
            self.type = type
            self.text = text
        }

        /// Reads the message of a frame.
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
