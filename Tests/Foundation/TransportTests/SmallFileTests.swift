import Basics
import Glibc
import Testing

@testable import Transport

@Suite struct SmallFileTests {
    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
    }

    @Test("a file is refused when it is one byte larger than the limit")
    func limit() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/server.pem"
        let content = [UInt8](repeating: 0x61, count: 100)
        try SmallFile.replace(path, with: content, mode: 0o600)
        #expect(try SmallFile.read(path, limit: 100) == content)
        let error = #expect(throws: TransportError.self) { try SmallFile.read(path, limit: 99) }
        #expect(error?.code == EFBIG)
        #expect(error?.description.contains("larger than 99") == true)
    }

    @Test("a pipe in place of a certificate is refused at once, though nothing writes to it")
    func pipes() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/server.pem"
        #expect(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: TransportError.self) { try SmallFile.read(path, waits: false) }
        #expect(error?.description.contains("not a regular file") == true)
        #expect(throws: TransportError.self) {
            try TLSIdentity(certificateFile: path, keyFile: path, now: 1_800_000_000_000)
        }
        #expect(throws: TransportError.self) { try SmallFile.read(scratch.path, waits: false) }
    }

    @Test("a replaced file has the requested mode with any umask")
    func modes() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/server.pem"
        for wanted in [0o666, 0o600, 0o644] as [UInt32] {
            try SmallFile.replace(path, with: [1], mode: wanted)
            #expect(mode(path) == wanted)
        }
    }

    @Test("a file at the same path has a different stamp when size and time are equal")
    func stamps() throws {
        let scratch = try Scratch()
        let path = "\(scratch.path)/server.pem"
        let times = [timespec](repeating: timespec(tv_sec: 1_700_000_000, tv_nsec: 0), count: 2)
        try SmallFile.replace(path, with: [1], mode: 0o600)
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        let first = try #require(SmallFile.stamp(path))
        #expect(SmallFile.stamp(path) == first)
        try SmallFile.replace(path, with: [2], mode: 0o600)
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
        #expect(SmallFile.stamp(path) != first)
        #expect(SmallFile.stamp(path + ".missing") == nil)
    }

    @Test("a peer is counted by its IPv4 address, or by the first 64 bits of its IPv6 address")
    func networks() {
        #expect(SocketAddress.ipv4(0x0102_0304, port: 5).network == .ipv4(0x0102_0304, port: 0))
        #expect(SocketAddress.ipv6(7, 8, zone: 2, port: 9).network == .ipv6(7, 0, zone: 0, port: 0))
        #expect(SocketAddress.unix(path: "/run/x").network == nil)
    }
}
