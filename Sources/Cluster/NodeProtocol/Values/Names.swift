import Basics
import Delivery

// Names, which most values contain.

extension NodeWriter {
    @inline(__always)
    mutating func write(_ device: DeviceID) { number(device.number) }

    @inline(__always)
    mutating func write(_ sender: SenderID) { number(sender.number) }

    @inline(__always)
    mutating func write(_ sequence: SequenceNumber) { number(sequence.number) }

    mutating func write(_ registration: RegistrationNumber) { number(registration.number) }

    mutating func write(_ name: RegistrationName) {
        write(name.device)
        write(name.number)
    }

    mutating func write(_ token: TokenName) {
        write(token.registration)
        write(token.prefix)
    }

    mutating func write(_ tokens: [TokenName]) { list(tokens) { $0.write($1) } }

    mutating func write(_ prefix: TokenPrefix?) { optional(prefix) { $0.bytes($1.bytes) } }

    mutating func write(_ group: GroupName) {
        write(group.sender)
        number(group.number)
    }

    mutating func write(_ job: TopicJobName) {
        write(job.sender)
        write(job.sequence)
    }

    mutating func write(_ topic: TopicName) { bytes(topic.bytes) }

    mutating func write(_ id: PersistentID) {
        write(id.sequence)
        number(id.salt)
    }

    mutating func write(_ digest: SecretDigest) {
        if digest.bytes.count != 32 { isUnreadable = true }
        bytes(digest.bytes)
    }

    mutating func write(_ connection: ConnectionID) {
        number(UInt64(connection.node))
        number(UInt64(connection.reactor))
        number(connection.slot)
        number(connection.generation)
    }

    mutating func write(_ names: [RegistrationName]) { list(names) { $0.write($1) } }
}

extension NodeReader {
    @_lifetime(self: copy self)
    mutating func device() throws(NodeProtocolFault) -> DeviceID { DeviceID(try number()) }

    @_lifetime(self: copy self)
    mutating func sender() throws(NodeProtocolFault) -> SenderID { SenderID(try number()) }

    @_lifetime(self: copy self)
    mutating func sequence() throws(NodeProtocolFault) -> SequenceNumber { SequenceNumber(try number()) }

    @_lifetime(self: copy self)
    mutating func registration() throws(NodeProtocolFault) -> RegistrationNumber {
        RegistrationNumber(try number())
    }

    @_lifetime(self: copy self)
    mutating func name() throws(NodeProtocolFault) -> RegistrationName {
        let device = try device()
        return RegistrationName(device: device, number: try registration())
    }

    @_lifetime(self: copy self)
    mutating func token() throws(NodeProtocolFault) -> TokenName {
        let name = try name()
        return TokenName(name, prefix: try tokenPrefix())
    }

    @_lifetime(self: copy self)
    mutating func tokens() throws(NodeProtocolFault) -> [TokenName] {
        let count = try count("tokens", least: 3)
        var tokens: [TokenName] = []
        for _ in 0..<count { tokens.append(try token()) }
        return tokens
    }

    @_lifetime(self: copy self)
    mutating func tokenPrefix() throws(NodeProtocolFault) -> TokenPrefix? {
        guard try flag("token prefix") else { return nil }
        let id = try byteArray("token prefix")
        guard let prefix = TokenPrefix(id) else { throw .value(of: "token prefix") }
        return prefix
    }

    @_lifetime(self: copy self)
    mutating func group() throws(NodeProtocolFault) -> GroupName {
        let sender = try sender()
        return GroupName(sender: sender, number: try number())
    }

    @_lifetime(self: copy self)
    mutating func job() throws(NodeProtocolFault) -> TopicJobName {
        let sender = try sender()
        return TopicJobName(sender: sender, sequence: try sequence())
    }

    @_lifetime(self: copy self)
    mutating func topic() throws(NodeProtocolFault) -> TopicName {
        guard let topic = TopicName(try byteArray("topic", upTo: Limits.Topic.nameBytes)) else {
            throw .value(of: "topic")
        }
        return topic
    }

    @_lifetime(self: copy self)
    mutating func persistentID() throws(NodeProtocolFault) -> PersistentID {
        let sequence = try sequence()
        return PersistentID(sequence: sequence, salt: try small("salt"))
    }

    @_lifetime(self: copy self)
    mutating func digest() throws(NodeProtocolFault) -> SecretDigest {
        let bytes = try byteArray("digest", upTo: 32)
        guard bytes.count == 32 else { throw .value(of: "digest") }
        return SecretDigest(bytes: bytes)
    }

    @_lifetime(self: copy self)
    mutating func connection() throws(NodeProtocolFault) -> ConnectionID {
        let node: UInt16 = try small("node")
        let reactor: UInt16 = try small("reactor")
        let slot: UInt32 = try small("slot")
        return ConnectionID(node: node, reactor: reactor, slot: slot, generation: try small("generation"))
    }

    @_lifetime(self: copy self)
    mutating func names() throws(NodeProtocolFault) -> [RegistrationName] {
        let count = try count("names", least: 2)
        var names: [RegistrationName] = []
        for _ in 0..<count { names.append(try name()) }
        return names
    }
}
