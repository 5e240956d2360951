import Basics
import Delivery

// Names, which most values contain.

extension NodeNumber where Self: NumberName {
    @inline(__always)
    init?(varint: UInt64) { self.init(varint) }
    @inline(__always)
    var varint: UInt64 { number }
}

/// A name that is a number.
protocol NumberName {
    init(_ number: UInt64)
    var number: UInt64 { get }
}

extension DeviceID: NodeNumber, NumberName {}
extension SenderID: NodeNumber, NumberName {}
extension SequenceNumber: NodeNumber, NumberName {}
extension RegistrationNumber: NodeNumber, NumberName {}

/// The number of a partition: one that no store can have is refused.
struct PartitionNumber: NodeNumber {
    var number: Int

    init(_ number: Int) { self.number = number }
    init?(varint: UInt64) {
        guard varint < UInt64(Limits.Partition.maximumCount) else { return nil }
        number = Int(varint)
    }
    var varint: UInt64 { UInt64(number) }
}

extension NodeReader {
    mutating func partition() throws(Fault) -> Int {
        let partition: PartitionNumber = try get("partition")
        return partition.number
    }
}

extension RegistrationName: NodeFields {
    static var leastBytes: Int { 2 }
    @inline(__always)
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(device: try c(v?.device), number: try c(v?.number))
    }
}

extension TokenName: NodeFields {
    static var leastBytes: Int { 3 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(try c(v?.registration), prefix: try c.optional(v?.prefix, "token prefix"))
    }
}

extension TokenPrefix: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let bytes = try c(v?.bytes, "token prefix")
        guard let prefix = v ?? Self(bytes) else { throw .value(of: "token prefix") }
        return prefix
    }
}

extension GroupName: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(sender: try c(v?.sender), number: try c(v?.number))
    }
}

extension TopicMessageName: NodeFields {
    @inline(__always)
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(sender: try c(v?.sender), sequence: try c(v?.sequence))
    }
}

/// The numbers of the names of shared pairs.
enum SharedBodyCase: UInt8, CaseNumber {
    case topic = 1
    case request

    static let kind: StaticString = "name of shared pairs"
}

extension SharedBodyName: NodeCases {
    func write(to w: inout NodeWriter) throws(Fault) {
        switch self {
        case .topic(let name): try w.put(Case.topic, name)
        case .request(let sender, let sequence): try w.put(Case.request, sender, sequence)
        }
    }

    static func read(_ number: SharedBodyCase, from r: inout NodeReader) throws(Fault) -> Self {
        switch number {
        case .topic: .topic(try r.get())
        case .request: .request(try r.get(), try r.get())
        }
    }
}

extension TopicName: NodeFields {
    static var leastBytes: Int { 2 }
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let bytes = try c.bytes(v?.bytes, "topic", upTo: Limits.Topic.nameBytes)
        guard let topic = v ?? Self(bytes) else { throw .value(of: "topic") }
        return topic
    }

    func write(to w: inout NodeWriter) throws(Fault) { try w.put(bytes) }
}

extension PersistentID: NodeFields {
    static var leastBytes: Int { 2 }
    @inline(__always)
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(sequence: try c(v?.sequence), salt: try c(v?.salt, "salt"))
    }
}

extension SecretDigest: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        let bytes = try c.bytes(v?.bytes, "digest", upTo: 32)
        guard bytes.count == 32 else { throw .value(of: "digest") }
        return Self(bytes: bytes)
    }
}

extension ConnectionID: NodeFields {
    @inline(__always)
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            node: try c(v?.node, "node"), reactor: try c(v?.reactor, "reactor"), slot: try c(v?.slot, "slot"),
            generation: try c(v?.generation, "generation"))
    }
}

extension SessionID: NodeFields {
    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(
            node: try c(v?.node, "node"), reactor: try c(v?.reactor, "reactor"),
            generation: try c(v?.generation, "generation"))
    }
}

/// A device with the digest of its security token.
struct DeviceProof: NodeFields {
    var device: DeviceID
    var token: SecretDigest

    static func fields(_ v: Self?, _ c: inout some Coder) throws(Fault) -> Self {
        Self(device: try c(v?.device), token: try c(v?.token))
    }

    var pair: (DeviceID, SecretDigest) { (device, token) }
}
