import Basics
import Testing

@Suite struct TimestampReadingTests {
    @Test("A timestamp keeps its value when it is parsed again")
    func roundTrip() {
        for time in [0, 951_782_400_000, 1_795_156_966_123, -1, -62_135_596_800_000, 253_402_300_799_999]
            as [Int64]
        {
            #expect(Timestamp.parsed(Array(Timestamp.text(time).utf8)) == time, "\(time)")
        }
    }

    @Test(
        "A timestamp is parsed with zones, decimals and letters of either case",
        arguments: [
            ("2026-11-20T06:42:46.123456789Z", 1_795_156_966_123),
            ("2026-11-20t06:42:46z", 1_795_156_966_000),
            ("2026-11-20T07:42:46+01:00", 1_795_156_966_000),
            ("2026-11-19T22:42:46.5-08:00", 1_795_156_966_500),
            ("2016-12-31T23:59:60Z", 1_483_228_799_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ])
    func forms(text: String, time: Int64) { #expect(Timestamp.parsed(Array(text.utf8)) == time) }

    @Test(
        "A timestamp is refused when it is malformed or does not exist",
        arguments: [
            "", "2026-11-20", "2026-11-20T06:42:46", "2026-13-20T06:42:46Z", "2023-02-29T06:42:46Z",
            "2100-02-29T06:42:46Z", "2026-11-20T24:00:00Z", "2026-11-20T06:60:00Z", "2026-11-20T06:42:61Z",
            "2026-11-20 06:42:46Z", "2026-11-20T06:42:46.Z", "2026-11-20T06:42:46.1234567890Z",
            "2026-11-20T06:42:46+1:00", "2026-11-20T06:42:46+24:00", "2026-11-20T06:42:46Zx",
            "-026-11-20T06:42:46Z",
        ])
    func refused(text: String) { #expect(Timestamp.parsed(Array(text.utf8)) == nil) }
}
