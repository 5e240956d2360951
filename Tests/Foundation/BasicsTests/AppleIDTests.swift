import Basics
import Testing

/// The `apns-id` that the server gives a message.
@Suite struct AppleIDTests {
    @Test("an apns-id is a UUID of version 8, and has the persistent ID")
    func roundTrip() {
        var random = SeededRandom(seed: 3)
        for _ in 0..<300 {
            let id = PersistentID(
                sequence: SequenceNumber(.random(in: 0..<1 << 59, using: &random)),
                salt: .random(in: 0...(.max), using: &random))
            let device = DeviceID(.random(in: 0...(.max), using: &random))
            let text = id.appleID(for: device)
            #expect(
                text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
                    != nil)
            #expect(PersistentID(appleID: Array(text.utf8).raw) == id)
            #expect(id.appleID(for: DeviceID(device.number ^ 1)) != text, "of another device")
        }
    }

    @Test("no other text is read as one")
    func others() {
        for text in [
            "", "01234567-89ab-4def-8123-456789abcdef", "01234567-89ab-8def-c123-456789abcdef",
            "0123456789ab-8def-8123-456789abcdef-", "g1234567-89ab-8def-8123-456789abcdef",
            "01234567-89ab-8def-8123-456789abcdef0",
        ] {
            #expect(PersistentID(appleID: Array(text.utf8).raw) == nil, "\(text)")
        }
        #expect(
            PersistentID(appleID: Array("01234567-89ab-8def-8123-456789abcdef".utf8).raw) != nil, "canary")
    }
}
