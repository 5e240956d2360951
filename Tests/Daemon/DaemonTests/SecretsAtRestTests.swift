import Foundation
import Testing

/// The content of the daemon's disk: messages, but no credentials.
@Suite("Secrets at rest", .serialized)
struct SecretsAtRestTests {
    /// Returns the names of the texts that any file below a folder contains.
    private static func found(_ texts: [String: [Data]], in folder: URL) throws -> Set<String> {
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var found: Set<String> = []
        for case let file as URL in files {
            guard let content = try? Data(contentsOf: file) else { continue }
            for (name, forms) in texts where forms.contains(where: { content.range(of: $0) != nil }) {
                found.insert(name)
            }
        }
        return found
    }

    /// Returns the possible encodings of a number: decimal, hexadecimal, and bytes in either order.
    private static func forms(_ number: UInt64) -> [Data] {
        [
            Data(String(number).utf8), Data(String(number, radix: 16).utf8),
            withUnsafeBytes(of: number.bigEndian) { Data($0) },
            withUnsafeBytes(of: number.littleEndian) { Data($0) },
        ]
    }

    @Test("no file of the data directory contains a server key or a security token")
    func digestsAlone() throws {
        let daemon = try RunningDaemon()
        // The first sender's key is stored in a file for the operator; this one is only printed.
        let made = try daemon.ctl("senders", "add", "--label", "an-unmistakable-label")
        let (sender, key) = (
            try #require(made["sender_id"] as? String), try #require(made["key"] as? String)
        )
        let state = daemon.directory.appendingPathComponent("device.json").path
        let tool = try Tool.run(
            "ccs-device",
            [
                "register", "--sender", sender, "--ca", daemon.authority, "--https-port",
                String(try daemon.port("https")), "--state", state, "--print-token",
            ])
        #expect(tool.code == 0, "\(tool)")
        _ = try daemon.ctl(
            "send", sender, tool.output.trimmingCharacters(in: .newlines), "text=an-unmistakable-text")
        let device = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: state)))
        let secret = try #require(
            ((device as? [String: Any])?["security_token"] as? String).flatMap { UInt64($0) })
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        let found = try Self.found(
            [
                "key": [Data(key.utf8)], "security token": Self.forms(secret),
                "label": [Data("an-unmistakable-label".utf8)], "text": [Data("an-unmistakable-text".utf8)],
            ], in: daemon.directory.appendingPathComponent("data"))
        #expect(found == ["label", "text"], "canary: the readable texts are found")
    }
}
