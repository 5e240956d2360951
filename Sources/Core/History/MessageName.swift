import Basics

/// What a message is asked for by, in any form that an answer to its submission has.
public struct MessageName: Sendable, Equatable {
    /// The ID that its submitter or app gave it, as far as that is recorded.
    public let id: [UInt8]
    /// The ID under which the device gets it, or that is in the `apns-id` under which Apple does.
    let persistentID: PersistentID?
    /// The number of a message to a topic.
    let number: UInt64?

    /// Reads the ID of a submitter, a persistent ID, either also as the name `projects/P/messages/ID` of HTTP v1, the number that legacy HTTP
    /// returns for a message to a topic, or an `apns-id`.
    public init(_ text: [UInt8]) {
        let parts = text.split(
            separator: UInt8(ascii: "/"), maxSplits: 3, omittingEmptySubsequences: false)
        let isName =
            parts.count == 4 && parts[0].elementsEqual("projects".utf8)
            && parts[2].elementsEqual("messages".utf8)
        self.init(id: isName ? Array(parts[3]) : text)
    }

    /// Reads any of these forms but the name of HTTP v1.
    public init(id own: [UInt8]) {
        id = Array(own.prefix(Limits.History.textBytes))
        persistentID = PersistentID(text: own.raw) ?? PersistentID(appleID: own.raw)
        let isNumber = own.allSatisfy { 0x30...0x39 ~= $0 }
        number = isNumber ? UInt64(String(decoding: own, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil } : nil
    }
}
