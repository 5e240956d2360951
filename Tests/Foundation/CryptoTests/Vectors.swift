import Basics
import BasicsSupport
import Foundation
import Testing
import Wire

/// The vectors of Fixtures/webpush/vectors.json: two from RFCs, one verified with another implementation.
struct Vectors {
    private let root: JSONValue

    init() throws {
        let path = PackageRoot.path + "/Fixtures/webpush/vectors.json"
        root = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: path))).raw)
    }

    /// Returns a group by name.
    func group(_ name: String) throws -> Group { Group(value: try #require(root[name])) }

    /// Returns the groups of signatures.
    func signatures() throws -> [Group] { try #require(root["signatures"]?.elements).map(Group.init) }

    /// A group of named texts.
    struct Group {
        var value: JSONValue

        func text(_ name: String) throws -> String { try #require(value[name]?.text) }
        func bytes(_ name: String) throws -> [UInt8] {
            try #require(Base64.bytes(Array(try text(name).utf8).raw))
        }
        func hex(_ name: String) throws -> [UInt8] {
            let digits = Array(try text(name))
            return try stride(from: 0, to: digits.count, by: 2).map {
                try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
            }
        }
    }
}

/// A deterministic source of bytes: first those given, then a counter.
struct FixedBytes {
    var given: [[UInt8]] = []
    var next: UInt8 = 1

    mutating func take(_ count: Int) -> [UInt8] {
        if !given.isEmpty { return given.removeFirst() }
        return (0..<count).map { _ in
            next = next &* 5 &+ 7
            return next
        }
    }
}
