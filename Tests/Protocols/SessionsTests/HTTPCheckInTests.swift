import Basics
import Compression
import Delivery
import Testing
import Wire

@testable import Sessions

@Suite struct HTTPCheckInTests {
    private func post(_ body: [UInt8], headers: String = "") -> [UInt8] {
        Array(
            "POST /checkin HTTP/1.1\r\nHost: x\r\n\(headers)Content-Type: application/x-protobuf\r\nContent-Length: \(body.count)\r\n\r\n"
                .utf8) + body
    }

    private func message(id: UInt64 = 0, token: UInt64 = 0) -> [UInt8] {
        var request = CheckInRequest()
        request.androidID = id
        request.securityToken = token
        var buffer = ByteBuffer()
        request.append(to: &buffer)
        return buffer.copied()
    }

    private func event(_ harness: HTTPHarness) throws -> CheckIn {
        guard case .device(_, .checkIn(let checkIn))? = harness.events.first else {
            throw RequestFault(.internalError, "no check-in")
        }
        return checkIn
    }

    @Test("A new device gets numbers in the range that old clients support")
    func fresh() throws {
        let harness = HTTPHarness()
        harness.send(post(message()))
        let checkIn = try event(harness)
        #expect(checkIn.claimed == nil)
        let range: ClosedRange<UInt64> = (1 << 59)...((1 << 63) - 1)
        #expect(range.contains(checkIn.freshDevice.number) && range.contains(checkIn.freshToken))
        #expect(checkIn.freshDevice.number != checkIn.freshToken)
        #expect(checkIn.freshDigest == HTTPHarness.digest(Array("\(checkIn.freshToken)".utf8)))
        #expect(checkIn.requester == Requester(connection: HTTPHarness.connection, requestID: 1))
        #expect(!checkIn.refusesWrongToken)
    }

    @Test("The answer to a check-in has exactly these bytes")
    func bytes() throws {
        let harness = HTTPHarness()
        harness.send(post(message()))
        harness.perform(
            .reply(
                requestID: 1, .checkedIn(DeviceID(0x0807_0605_0403_0201), freshToken: 0x1817_1615_1413_1211)))
        let text = harness.takeSent()
        let parts = text.components("\r\n\r\n")
        #expect(
            parts.0
                == "HTTP/1.1 200 OK\r\nDate: Fri, 20 Nov 2026 06:42:46 GMT\r\n"
                + "Content-Type: application/x-protobuffer\r\nContent-Length: 33\r\n"
                + "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff")
        #expect(harness.close == nil)
        #expect(harness.records == 1)
    }

    @Test("A known device keeps the token that it sent")
    func known() throws {
        let id: UInt64 = 600_000_000_000_000_001
        let token: UInt64 = 700_000_000_000_000_002
        let harness = HTTPHarness()
        harness.send(post(message(id: id, token: token), headers: "User-Agent: aiohttp/3.9\r\n"))
        let claimed = try #require(try event(harness).claimed)
        #expect(claimed.0 == DeviceID(id))
        #expect(claimed.1 == HTTPHarness.digest(Array("700000000000000002".utf8)))
        let found = harness.session.response(
            to: .checkedIn(DeviceID(id), freshToken: nil), of: 1, harness.now)
        let response = try #require(found)
        let read = try CheckInResponse(decoding: response.body.raw)
        #expect(read == CheckInResponse(time: harness.now.wall, androidID: id, securityToken: token))
    }

    @Test("Chromium is refused with 401 so that it starts over, and other clients never are")
    func chromium() throws {
        let harness = HTTPHarness()
        let agent = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/156.0.0.0 Safari/537.36\r\n"
        harness.send(post(message(id: 5, token: 6), headers: agent))
        let checkIn = try event(harness)
        #expect(checkIn.refusesWrongToken)
        harness.perform(.reply(requestID: 1, .checkInRefused))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("wrong security token for this device\n", "401 Unauthorized"))
    }

    @Test(
        "A body that is not a check-in gets 400",
        arguments: [[], [0xFF], [0x08, 0x01], [0x22, 0x7F], [0x69, 0x01]] as [[UInt8]])
    func malformed(body: [UInt8]) {
        let harness = HTTPHarness()
        harness.send(post(body))
        let text = harness.takeSent()
        #expect(text == HTTPHarness.text("invalid body: expected a check-in request\n", "400 Bad Request"))
        let count = harness.events.count
        #expect(count == 0)
    }

    @Test("An unknown coding gets 415 with the accepted ones")
    func coding() {
        let harness = HTTPHarness()
        harness.send(post(message(), headers: "Content-Encoding: br\r\n"))
        let text = harness.takeSent()
        #expect(
            text
                == HTTPHarness.text(
                    "invalid Content-Encoding: expected gzip or identity; for a JSON body also aes128gcm or aesgcm, which are ignored\n",
                    "415 Unsupported Media Type", extra: "Accept-Encoding: gzip, identity\r\n"))
    }

    @Test(
        "The answer to a check-in is compressed when its request is, and otherwise not",
        arguments: [true, false])
    func gzip(isCompressed: Bool) throws {
        let harness = HTTPHarness()
        let plain = message(id: 5, token: 6)
        let packed = try #require(Gzip.compressed(plain))
        harness.send(
            isCompressed ? post(packed, headers: "Content-Encoding: GZIP\r\n") : post(plain))
        #expect(try event(harness).claimed?.0 == DeviceID(5))
        let found = harness.session.response(to: .checkedIn(DeviceID(5), freshToken: 7), of: 1, harness.now)
        let response = try #require(found)
        #expect(response.extra?.value == (isCompressed ? "gzip" : nil))
        let body = isCompressed ? try Gzip.decompressed(response.body, limit: 1_000) : response.body
        #expect(try CheckInResponse(decoding: body.raw).androidID == 5)
    }

    @Test("An ID without a token creates a new device (canary: both identify a known one)")
    func half() throws {
        let harness = HTTPHarness()
        harness.send(post(message(id: 5)))
        #expect(try event(harness).claimed == nil)
        let other = HTTPHarness()
        other.send(post(message(id: 5, token: 6)))
        #expect(try event(other).claimed != nil)
    }
}

extension String {
    /// Returns the text before and after the first occurrence of a separator.
    func components(_ separator: String) -> (String, String) {
        guard let range = firstRange(of: separator) else { return (self, "") }
        return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
    }
}
