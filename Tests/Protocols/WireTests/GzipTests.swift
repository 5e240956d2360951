import Basics
import Compression
import Testing
import Wire

@Suite struct GzipTests {
    @Test("A compressed body decompresses to itself", arguments: [0, 1, 100, 20_000, 300_000])
    func roundTrip(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let body = (0..<count).map { _ in UInt8.random(in: 0...(count % 2 == 0 ? 255 : 1), using: &random) }
        let packed = try #require(Gzip.compressed(body))
        #expect(try Gzip.decompressed(packed, limit: count) == body)
    }

    @Test("A body is refused one byte over the limit, and accepted at the limit")
    func limit() throws {
        let body = [UInt8](repeating: 0, count: 1_048_577)
        let packed = try #require(Gzip.compressed(body))
        #expect(packed.count < 2_000)
        #expect(failure(packed, 1_048_576) == .tooLong)
        #expect(failure(packed, 0) == .tooLong)
        #expect(failure(packed, 1_048_577) == nil)
    }

    @Test("Truncated, damaged and trailing bytes are detected")
    func damage() throws {
        let body = Array("a check-in, as it were; a check-in, as it were".utf8)
        let good = try #require(Gzip.compressed(body))
        #expect(failure(good, 1_000) == nil, "canary: the undamaged body is read")
        for at in good.indices { #expect(failure(Array(good[..<at]), 1_000) == .malformed, "cut to \(at)") }
        #expect(failure(good + [0], 1_000) == .trailingBytes)
        #expect(failure(good + good + [0x1F], 1_000) == .trailingBytes)
        for at in good.indices {
            var bad = good
            bad[at] ^= 0x55
            // The header has a time and a system, which are ignored.
            #expect((try? Gzip.decompressed(bad, limit: 1_000)) ?? body == body, "byte \(at)")
        }
    }

    @Test("Several members are one body, within the limit for all of them")
    func members() throws {
        let (first, second) = (Array("a check-in, ".utf8), Array("in two members".utf8))
        let (a, b) = (try #require(Gzip.compressed(first)), try #require(Gzip.compressed(second)))
        let empty = try #require(Gzip.compressed([]))
        #expect(try Gzip.decompressed(a + b, limit: 26) == first + second)
        #expect(try Gzip.decompressed(empty + a + empty + b + empty, limit: 26) == first + second)
        #expect(failure(a + b, 25) == .tooLong)
        for count in 2..<b.count { #expect(failure(a + b[..<count], 100) == .malformed, "cut to \(count)") }
        #expect(failure(a + b.prefix(1), 100) == .trailingBytes)
    }

    private func failure(_ packed: [UInt8], _ limit: Int) -> GzipFailure? {
        do throws(GzipFailure) {
            _ = try Gzip.decompressed(packed, limit: limit)
            return nil
        } catch { return error }
    }

    /// Returns the status with which a request with this body is refused, or `nil` if its body is read.
    private static func refusal(of body: [UInt8], _ headers: String) throws -> HTTPStatus? {
        let head = "POST / HTTP/1.1\r\nHost: h\r\n\(headers)Content-Length: \(body.count)\r\n\r\n"
        var reader = RequestReader()
        reader.append((Array(head.utf8) + body).raw)
        let request = try #require(try reader.next())
        do throws(RequestFault) {
            _ = try request.decompressed()
            return nil
        } catch { return error.status }
    }

    @Test("A request with an invalid gzip body is refused with the status for its fault")
    func statuses() throws {
        func status(_ body: [UInt8]) throws -> HTTPStatus? {
            try Self.refusal(of: body, "Content-Encoding: gzip\r\n")
        }
        let good = try #require(Gzip.compressed(Array("hello".utf8)))
        let long = try #require(
            Gzip.compressed([UInt8](repeating: 0, count: Limits.HTTP.unpackedBodyBytes + 1)))
        #expect(try status(good) == nil, "canary: a valid body is read")
        #expect(try status(long) == .contentTooLarge)
        #expect(try status(Array(good.dropLast())) == .badRequest)
        #expect(try status(good + [0]) == .badRequest)
    }

    @Test(
        "A request that names its coding twice is refused, since others may read it differently",
        arguments: [
            ("gzip", "gzip", "text/plain"), ("gzip", "identity", "text/plain"),
            ("identity", "gzip", "text/plain"), ("aes128gcm", "gzip", "application/json"),
        ])
    func twoCodings(first: String, second: String, type: String) throws {
        func status(_ codings: [String]) throws -> HTTPStatus? {
            let body = codings == ["aes128gcm"] ? Array("{}".utf8) : try #require(Gzip.compressed([1]))
            return try Self.refusal(
                of: body,
                "Content-Type: \(type)\r\n" + codings.map { "Content-Encoding: \($0)\r\n" }.joined())
        }
        #expect(try status([first, second]) == .unsupportedMediaType)
        #expect(try status([first]) == nil, "canary: each is accepted alone")
    }
}
