import Basics
import Testing
import Wire

@Suite struct HTTPCheckInMessageTests {
    @Test("The response has exactly these bytes")
    func answer() throws {
        var buffer = ByteBuffer()
        CheckInResponse(time: 300, androidID: 0x0807_0605_0403_0201, securityToken: 0x1817_1615_1413_1211)
            .append(to: &buffer)
        #expect(
            buffer.copied() == [
                0x08, 0x01, 0x18, 0xAC, 0x02, 0x39, 1, 2, 3, 4, 5, 6, 7, 8, 0x41, 0x11, 0x12, 0x13, 0x14,
                0x15,
                0x16, 0x17, 0x18, 0x5A, 0x04, 0x63, 0x63, 0x73, 0x64,
            ])
        let read = try CheckInResponse(decoding: buffer.bytes)
        #expect(
            read
                == CheckInResponse(
                    time: 300, androidID: 0x0807_0605_0403_0201, securityToken: 0x1817_1615_1413_1211))
    }

    @Test("A request is decoded as it was encoded")
    func request() throws {
        var request = CheckInRequest()
        request.androidID = 600_000_000_000_000_001
        request.securityToken = 700_000_000_000_000_002
        var buffer = ByteBuffer()
        request.append(to: &buffer)
        request.version = 3
        let read = try CheckInRequest(decoding: buffer.bytes)
        #expect(read == request)
    }

    @Test("Every truncated request is refused or incomplete (canary: the whole one is not)")
    func truncated() throws {
        var buffer = ByteBuffer()
        CheckInResponse(time: 300, androidID: 5, securityToken: 6).append(to: &buffer)
        let bytes = buffer.copied()
        for length in 0..<23 {
            let part = Array(bytes[..<length])
            #expect(throws: MCSError.self) { try CheckInResponse(decoding: part.raw) }
        }
        #expect(throws: Never.self) { try CheckInResponse(decoding: bytes.raw) }
    }
}
