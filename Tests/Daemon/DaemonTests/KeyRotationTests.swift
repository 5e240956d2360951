import Foundation
import Testing

/// Sessions of app servers whose server key is replaced.
@Suite("Key rotation", .serialized)
struct KeyRotationTests {
    @Test(
        "a session ends with its key, at once or with the overlap; the new key's session goes on and gets the upstream messages",
        arguments: [0, 2])
    func ends(overlap: Int) throws {
        let daemon = try RunningDaemon()
        let sender = try daemon.firstSender
        let device = try TestDevice(daemon, sender: sender.id)
        let old = try TestAppServer(daemon, sender: sender)
        let rotated = try daemon.ctl(
            "senders", "rotate-key", sender.id, "--overlap-seconds", "\(overlap)", "--yes")
        let key = try #require(rotated["key"] as? String)
        let new = try TestAppServer(daemon, sender: (sender.id, key))
        #expect(old.endsByItself(), "the session of the old key goes on")
        #expect(try new.send("m1", to: device.token) == "ACK")
        try device.expectMessage { $0["id"] == "m1" }
        device.send(id: "u1", pairs: [])
        try device.expectStored("u1")
        try new.expectUpstream("u1")
    }
}
