import Basics

/// A frame of a link: four bytes of length, little-endian, which counts what follows; one byte of kind; the content.
enum LinkFrame {
    /// What a frame is.
    enum Kind: UInt8 {
        /// The introduction: the first frame of each side.
        case hello = 1
        /// The sender ends the link; one byte is the reason.
        case refusal = 2
        /// A number that the peer returns.
        case ping = 3
        case pong = 4
        /// Bytes for the owner of the link.
        case parcel = 5
        /// A bulk copy begins: its number and description.
        case open = 6
        /// The next bytes of a copy.
        case chunk = 7
        /// The receiver has stored a number of bytes of a copy.
        case credit = 8
        /// A copy is complete (1) or broken off (0).
        case end = 9
        /// The receiver does not want the rest of a copy.
        case cancel = 10

        /// The lengths that its content may have.
        var lengths: ClosedRange<Int> {
            switch self {
            // A later version may append to its hello.
            case .hello: LinkFrame.helloBytes...Limits.NodeLinks.helloBytes
            case .refusal: 1...Limits.NodeLinks.helloBytes
            case .ping, .pong: 8...8
            case .parcel: 0...Limits.NodeLinks.parcelBytes
            // Each begins with the number of the copy.
            case .open: 4...4 + Limits.NodeLinks.streamHeaderBytes
            case .chunk: 5...4 + Limits.NodeLinks.chunkBytes
            case .credit: 12...12
            case .end: 5...5
            case .cancel: 4...4
            }
        }
    }

    /// Bytes before the content.
    static let headerBytes = 5
    /// Bytes of the hello of this version: magic, versions, node, cluster, incarnation.
    static let helloBytes = 24
    private static let magic: UInt64 = 0x4c53_4343

    static func append(_ kind: Kind, _ content: borrowing RawSpan, to output: inout ByteBuffer) {
        let length = UInt32(content.byteCount + 1)
        for shift in [0, 8, 16, 24] as [UInt32] {
            output.append(byte: UInt8(truncatingIfNeeded: length >> shift))
        }
        output.append(byte: kind.rawValue)
        output.append(content)
    }

    static func append(_ kind: Kind, number: UInt64, to output: inout ByteBuffer) {
        var content = ByteBuffer()
        content.append(word: number)
        append(kind, content.bytes, to: &output)
    }

    static func appendHello(
        _ identity: LinkIdentity, _ versions: ClosedRange<UInt8>, to output: inout ByteBuffer
    ) {
        var content = ByteBuffer()
        content.append(
            word: magic | UInt64(versions.lowerBound) << 32 | UInt64(versions.upperBound) << 40
                | UInt64(identity.node.number) << 48)
        content.append(word: identity.cluster.number)
        content.append(word: identity.incarnation.number)
        append(.hello, content.bytes, to: &output)
    }

    /// Reads the content of a hello. Returns `nil` if it is none.
    static func hello(_ content: borrowing RawSpan) -> (identity: LinkIdentity, versions: ClosedRange<UInt8>)?
    {
        let first = content.word(at: 0)
        let (lowest, highest) = (
            UInt8(truncatingIfNeeded: first >> 32), UInt8(truncatingIfNeeded: first >> 40)
        )
        guard first & 0xffff_ffff == magic, lowest > 0, lowest <= highest else { return nil }
        let identity = LinkIdentity(
            cluster: ClusterID(content.word(at: 8)), node: NodeNumber(UInt16(first >> 48)),
            incarnation: Incarnation(content.word(at: 16)))
        return (identity, lowest...highest)
    }
}
