import Basics
import Testing
import Wire

@Suite struct GzipTests {
    @Test("What is packed unpacks to itself", arguments: [0, 1, 100, 20_000, 300_000])
    func roundTrip(count: Int) throws {
        var random = SeededRandom(seed: UInt64(count))
        let body = (0..<count).map { _ in UInt8.random(in: 0...(count % 2 == 0 ? 255 : 1), using: &random) }
        let packed = try #require(Gzip.packed(body))
        #expect(try Gzip.unpacked(packed, limit: count) == body)
    }

    @Test("One octet over the limit is refused, however it is packed; the limit itself is not")
    func limit() throws {
        let body = [UInt8](repeating: 0, count: 1_048_577)
        let packed = try #require(Gzip.packed(body))
        #expect(packed.count < 2_000)
        #expect(fault(packed, 1_048_576) == .contentTooLarge)
        #expect(fault(packed, 0) == .contentTooLarge)
        #expect(fault(packed, 1_048_577) == nil)
    }

    @Test("Every cut and most changed octets are found, and nothing follows the end")
    func damage() throws {
        let body = Array("a check-in, as it were; a check-in, as it were".utf8)
        let good = try #require(Gzip.packed(body))
        #expect(fault(good, 1_000) == nil, "the canary: undamaged, it must be read")
        for at in good.indices { #expect(fault(Array(good[..<at]), 1_000) == .badRequest, "cut to \(at)") }
        #expect(fault(good + [0], 1_000) == .badRequest)
        #expect(fault(good + good, 1_000) == .badRequest)
        for at in good.indices {
            var bad = good
            bad[at] ^= 0x55
            // Time and system stand in the head and mean nothing.
            #expect((try? Gzip.unpacked(bad, limit: 1_000)) ?? body == body, "octet \(at)")
        }
    }

    private func fault(_ packed: [UInt8], _ limit: Int) -> HTTPStatus? {
        do throws(RequestFault) {
            _ = try Gzip.unpacked(packed, limit: limit)
            return nil
        } catch { return error.status }
    }
}
