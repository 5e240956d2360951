public import Basics

extension MCS {
    /// An acknowledgement in the form of a query stanza (tag 7, mcs-device 2); it is never answered.
    public struct IqStanza: Sendable, Equatable {
        /// The content of the extension.
        public enum Content: Sendable, Equatable {
            /// All frames up to `lastStreamIDReceived` are received (extension 13).
            case streamAck
            /// Messages with these persistent IDs are received (extension 12); only the first `Limits.MCS.receivedIDs` are read.
            case selectiveAck([[UInt8]])
            /// No extension, or an unknown one.
            case other
        }

        /// 0 get, 1 set, 2 result, 3 error; only 1 is used.
        public var type: Int32 = 1
        /// Empty in practice.
        public var id: [UInt8] = []
        /// The content of the extension.
        public var content: Content = .other
        /// The sender's count of its frames; rarely sent.
        public var streamID: Int32?
        /// The number of frames received from the peer.
        public var lastStreamIDReceived: Int32?
        /// Bit 0: the device is idle.
        public var status: Int64?

        /// Creates an IQ of type set.
        public init(_ content: Content, lastStreamIDReceived: Int32? = nil) {
            self.content = content
            self.lastStreamIDReceived = lastStreamIDReceived
        }

        /// Decodes the message of a frame.
        public init(decoding message: RawSpan) throws(MCSError) {
            var fields = ProtobufReader(message)
            while let field = try fields.next() {
                switch field.number {
                case 2: type = try fields.int32(field)
                case 3: id = try fields.array(field)
                case 7: content = try Content(extension: try fields.bytes(field))
                case 9: streamID = try fields.int32(field)
                case 10: lastStreamIDReceived = try fields.int32(field)
                case 12: status = try fields.int64(field)
                default: try fields.skip(field)
                }
            }
        }

        /// Appends the whole frame.
        public func append(to buffer: inout ByteBuffer) {
            buffer.appendFrame(.iq) { buffer in
                buffer.appendField(2, varint: type)
                buffer.appendField(3, bytes: id)
                content.append(to: &buffer)
                if let streamID { buffer.appendField(9, varint: streamID) }
                if let lastStreamIDReceived { buffer.appendField(10, varint: lastStreamIDReceived) }
                if let status { buffer.appendField(12, varint: status) }
            }
        }
    }
}

extension MCS.IqStanza.Content {
    private static let selectiveAckID: Int32 = 12
    private static let streamAckID: Int32 = 13

    init(extension message: RawSpan) throws(MCSError) {
        var fields = ProtobufReader(message)
        var id: Int32?
        var data: Range<Int> = 0..<0
        while let field = try fields.next() {
            switch field.number {
            case 1: id = try fields.int32(field)
            case 2: data = try fields.range(field)
            default: try fields.skip(field)
            }
        }
        guard let id else { throw .missingField(1) }
        switch id {
        case Self.streamAckID: self = .streamAck
        case Self.selectiveAckID: self = .selectiveAck(try Self.ids(message.extracting(data)))
        default: self = .other
        }
    }

    private static func ids(_ message: RawSpan) throws(MCSError) -> [[UInt8]] {
        var fields = ProtobufReader(message)
        var ids: [[UInt8]] = []
        while let field = try fields.next() {
            guard field.number == 1 else {
                try fields.skip(field)
                continue
            }
            let id = try fields.bytes(field)
            if ids.count < Limits.MCS.receivedIDs { ids.append([UInt8](copying: id)) }
        }
        return ids
    }

    func append(to buffer: inout ByteBuffer) {
        switch self {
        case .other: break
        case .streamAck:
            buffer.appendField(7) {
                $0.appendField(1, varint: Self.streamAckID)
                $0.appendFieldHead(2, length: 0)
            }
        case .selectiveAck(let ids):
            buffer.appendField(7) {
                $0.appendField(1, varint: Self.selectiveAckID)
                $0.appendField(2) { data in for id in ids { data.appendField(1, bytes: id) } }
            }
        }
    }
}
