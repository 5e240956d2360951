import Basics
import Delivery

@testable import NodeProtocol

/// Random values of everything that the nodes exchange, the same for the same seed. Numbers have every magnitude.
struct RandomValues {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }

    mutating func flag() -> Bool { below(2) == 0 }

    mutating func number() -> UInt64 { random.next() >> UInt64(below(64)) }

    mutating func small<Small: FixedWidthInteger & UnsignedInteger>() -> Small {
        Small(truncatingIfNeeded: random.next()) >> Small(below(Small.bitWidth))
    }

    mutating func signed() -> Int64 {
        let magnitude = Int64(bitPattern: number())
        return flag() ? magnitude : -(magnitude / 2)
    }

    mutating func integer() -> Int { Int(signed()) }

    /// A count that a record of the store can hold.
    mutating func count() -> Int { Int(number() >> 1) }

    mutating func bytes(upTo length: Int = 20) -> [UInt8] {
        (0..<below(length + 1)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    mutating func text() -> String {
        String((0..<below(8)).map { _ in ["a", "é", "𝄞", "\0", "-"][below(5)] as Character })
    }

    mutating func optional<Value>(_ make: (inout RandomValues) -> Value) -> Value? {
        flag() ? make(&self) : nil
    }

    mutating func list<Value>(upTo length: Int = 3, _ make: (inout RandomValues) -> Value) -> [Value] {
        (0..<below(length + 1)).map { _ in make(&self) }
    }

    mutating func one<Value: CaseIterable>(_ type: Value.Type = Value.self) -> Value {
        let all = Array(Value.allCases)
        return all[below(all.count)]
    }

    // MARK: Names

    mutating func device() -> DeviceID { DeviceID(number()) }
    mutating func sender() -> SenderID { SenderID(max(1, number())) }
    mutating func sequence() -> SequenceNumber { SequenceNumber(max(1, number())) }
    mutating func registrationNumber() -> RegistrationNumber { RegistrationNumber(number()) }
    mutating func name() -> RegistrationName {
        RegistrationName(device: device(), number: registrationNumber())
    }
    mutating func token() -> TokenName { TokenName(name(), prefix: tokenPrefix()) }
    mutating func tokenPrefix() -> TokenPrefix? {
        guard flag() else { return nil }
        let length = flag() ? 11 : 22
        let digits = (1..<length).map { _ in [UInt8]("Az09-_".utf8)[below(6)] }
        return TokenPrefix([UInt8(ascii: "c") + UInt8(below(4))] + digits)
    }
    mutating func tokens() -> [TokenName] { list { $0.token() } }
    mutating func names() -> [RegistrationName] { list { $0.name() } }
    mutating func group() -> GroupName { GroupName(sender: sender(), number: number()) }
    mutating func messageName() -> TopicMessageName {
        TopicMessageName(sender: sender(), sequence: sequence())
    }
    mutating func persistentID() -> PersistentID { PersistentID(sequence: sequence(), salt: small()) }
    mutating func digest() -> SecretDigest { SecretDigest(bytes: (0..<32).map { _ in small() }) }
    mutating func connection() -> ConnectionID {
        ConnectionID(node: small(), reactor: small(), slot: small(), generation: small())
    }

    mutating func installationID() -> [UInt8] {
        (0..<InstallationToken.idLength).map { _ in small() }
    }

    mutating func topic() -> TopicName {
        while true {
            let letters = (0...below(10)).map { _ in Array("aZ09-_.~%".utf8)[below(9)] }
            if let topic = TopicName(letters) { return topic }
        }
    }

    mutating func target() -> TopicTarget {
        while true {
            if flag() { return TopicTarget(topic()) }
            let topics = list(upTo: Limits.Topic.conditionTests) { $0.topic() }
            if let target = TopicTarget(topics: topics, truth: small()) { return target }
        }
    }
}
