import Basics
import BasicsSupport
import Delivery
import Foundation
import Sessions
import Testing
import Wire

/// Runs the hostile files of Fixtures/hostile/mcs against a whole session.
@Suite struct DeviceHostileTests {
    static let files: [(name: String, stream: [UInt8])] = {
        let folder = URL(fileURLWithPath: PackageRoot.path + "/Fixtures/hostile/mcs")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().compactMap { name in
            guard let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            else {
                return nil
            }
            return (name, text.split(separator: "\n").flatMap(bytes))
        }
    }()

    private static func bytes(_ line: Substring) -> [UInt8] {
        guard !line.hasPrefix("#") else { return [] }
        let parts = line.split(separator: "*")
        let unit = Hex.bytes(String(parts.first ?? "")) ?? []
        return (0..<(parts.count > 1 ? Int(parts[1]) ?? 0 : 1)).flatMap { _ in unit }
    }

    @Test(
        "an invalid login ends the connection without an answer",
        arguments: files.map(\.name))
    func beforeLogin(name: String) throws {
        let stream = try #require(Self.files.first { $0.name == name }?.stream)
        for pieces in [1, 5, stream.count] {
            var harness = DeviceHarness()
            feed(stream, pieces: pieces, to: &harness)
            harness.pass(seconds: Limits.Login.deadlineSeconds)
            let close = harness.io.close
            #expect(close != nil)
            harness.end(close ?? .peerClosed)
        }
    }

    @Test(
        "an error after the login ends the connection with Close, and other input leaves it open",
        arguments: files.map(\.name))
    func afterLogin(name: String) throws {
        let stream = try #require(Self.files.first { $0.name == name }?.stream)
        // The first byte is the version; another test covers other versions.
        guard !name.hasPrefix("unsupported-version") else { return }
        for pieces in [1, 3, stream.count] {
            var harness = DeviceHarness.loggedIn()
            feed(Array(stream.dropFirst()), pieces: pieces, to: &harness)
            let close = harness.io.close
            if name.hasPrefix("too-large") || name.contains("login-long") {
                #expect(close == .tooLarge)
            } else if name.hasPrefix("read"), !name.contains("login-"), !name.contains("close") {
                #expect(close == nil)
            } else if name.contains("login-") && !name.contains("login-response") || !name.hasPrefix("read"),
                !name.hasPrefix("cut")
            {
                #expect(close == .protocolViolation)
                #expect(harness.takeSent().last == .close(MCS.Close()))
            }
            harness.end(close ?? .peerClosed)
        }
    }

    @Test("canary: there are files, and one that must end the connection does")
    func canary() {
        #expect(Self.files.count >= 100)
        var harness = DeviceHarness.loggedIn()
        harness.receive([16, 0])
        let close = harness.io.close
        #expect(close == .protocolViolation)
    }

    private func feed(_ stream: [UInt8], pieces: Int, to harness: inout DeviceHarness) {
        var start = 0
        while start < stream.count, harness.io.close == nil {
            let end = min(stream.count, start + max(1, pieces))
            harness.receive(Array(stream[start..<end]))
            start = end
        }
    }
}
