import Basics
import BasicsSupport

/// The text of a transcript's line: visible characters for control characters, and `$(…)` for values.
public struct TranscriptText {
    /// Values by name, both given and captured.
    public var values: [String: String] = [:]

    /// Values for transcripts of app servers: a client's header, and the server's features before and after the login.
    public static let appServer = [
        "STREAM":
            #"<stream:stream to="gcm.googleapis.com" version="1.0" xmlns="jabber:client" xmlns:stream="http://etherx.jabber.org/streams">"#,
        "MECHANISMS":
            #"<stream:features><mechanisms xmlns="urn:ietf:params:xml:ns:xmpp-sasl"><mechanism>X-OAUTH2</mechanism><mechanism>X-GOOGLE-TOKEN</mechanism><mechanism>PLAIN</mechanism></mechanisms></stream:features>"#,
        "FEATURES":
            #"<stream:features><bind xmlns="urn:ietf:params:xml:ns:xmpp-bind"/><session xmlns="urn:ietf:params:xml:ns:xmpp-session"/></stream:features>"#,
    ]

    public init() {}

    /// Returns the value of a `$(…)` that is specific to a protocol, or `nil`.
    public var function: (_ inner: String, _ values: [String: String]) -> [UInt8]? = { _, _ in nil }

    private enum Part {
        case literal([UInt8])
        case capture(name: String, shape: String?)
    }

    private static let signs: [Character: [UInt8]] = [
        "⏎": [0x0A], "␍": [0x0D], "⇥": [0x09], "␠": [0x20], "␀": [0x00],
    ]

    /// Returns the bytes of a line to send; every name must have a value.
    public func bytes(_ text: String) throws -> [UInt8] {
        try parts(text).flatMap { part in
            switch part {
            case .literal(let bytes): return bytes
            case .capture(let name, _): throw Unbound(name: name)
            }
        }
    }

    /// Returns whether the received bytes match an expected line; names without a value capture the text in their place.
    public mutating func matches(_ expected: String, _ actual: [UInt8]) throws -> Bool {
        let parts = try parts(expected)
        var rest = actual[...]
        for (at, part) in parts.enumerated() {
            switch part {
            case .literal(let bytes):
                guard rest.starts(with: bytes) else { return false }
                rest = rest.dropFirst(bytes.count)
            case .capture(let name, let shape):
                var length = rest.count
                if at + 1 < parts.count, case .literal(let next) = parts[at + 1] {
                    guard let found = Self.offset(of: next, in: rest) else { return false }
                    length = found
                }
                let value = String(decoding: rest.prefix(length), as: UTF8.self)
                guard fits(value, shape) else { return false }
                if name != "_" { values[name] = value }
                rest = rest.dropFirst(length)
            }
        }
        return rest.isEmpty
    }

    /// Returns the line for these bytes.
    public static func shown(_ bytes: [UInt8]) -> String {
        if bytes == [0x20] { return "␠" }
        return String(decoding: bytes, as: UTF8.self).replacing("\n", with: "⏎")
    }

    /// A name without a value.
    public struct Unbound: Error { let name: String }

    private func parts(_ text: String) throws -> [Part] {
        var parts: [Part] = []
        var literal: [UInt8] = []
        var rest = text[...]
        while let character = rest.first {
            if rest.hasPrefix("$("), let close = rest.firstIndex(of: ")") {
                let inner = String(rest[rest.index(rest.startIndex, offsetBy: 2)..<close])
                rest = rest[rest.index(after: close)...]
                if let value = value(of: inner) {
                    literal.append(contentsOf: value)
                } else {
                    let words = inner.split(separator: ":", maxSplits: 1).map(String.init)
                    parts.append(.literal(literal))
                    parts.append(.capture(name: words.first ?? "_", shape: words.count > 1 ? words[1] : nil))
                    literal = []
                }
                continue
            }
            literal.append(contentsOf: Self.signs[character] ?? Array(String(character).utf8))
            rest = rest.dropFirst()
        }
        parts.append(.literal(literal))
        return parts
    }

    private func value(of inner: String) -> [UInt8]? {
        let words = inner.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(
            String.init)
        switch words[0] {
        case "plain" where words.count > 1:
            let message = Array(words.dropFirst().joined(separator: ":").utf8).map { $0 == 0x7C ? 0 : $0 }
            return Array(Base64.text(message).utf8)
        case "repeat" where words.count > 2:
            return Array(String(repeating: words[2], count: Int(words[1]) ?? 0).utf8)
        case "base64" where words.count > 1:
            return Array(Base64.text(Array(words.dropFirst().joined(separator: ":").utf8)).utf8)
        case "hex" where words.count > 1: return Hex.bytes(words[1])
        default: return values[words[0]].map { Array($0.utf8) } ?? function(inner, values)
        }
    }

    private func fits(_ value: String, _ shape: String?) -> Bool {
        switch shape {
        case "NEW16": fits(value, "HEX16") && !values.values.contains(value)
        case "HEX16":
            value.utf8.count == 16 && value.utf8.allSatisfy { Hex.value(of: $0) != nil && $0 < 0x60 }
        case "HEX8":
            value.utf8.count == 8 && value.utf8.allSatisfy { Hex.value(of: $0) != nil && $0 < 0x60 }
        case "MILLIS": value.utf8.count == 13 && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
        default: true
        }
    }

    private static func offset(of needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard !needle.isEmpty else { return bytes.count }
        var at = bytes.startIndex
        while at + needle.count <= bytes.endIndex {
            if bytes[at..<at + needle.count].elementsEqual(needle) { return at - bytes.startIndex }
            at += 1
        }
        return nil
    }
}
