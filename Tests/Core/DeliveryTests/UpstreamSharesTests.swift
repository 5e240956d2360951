import Basics
import Testing

@testable import Delivery

@Suite("the shares of devices in a mailbox")
struct UpstreamSharesTests {
    @Test("messages count until they are removed or their time is over, however many devices there were")
    func places() {
        var shares = UpstreamShares()
        let quiet = DeviceID(1)
        shares.add(quiet, endingAt: 10, 0)
        shares.add(quiet, endingAt: 5, 0)
        // More times than are kept without a look at those that are over.
        for number in 2...5_000 as ClosedRange<UInt64> {
            shares.add(DeviceID(number), endingAt: Int64(number) * 10, Int64(number) * 10 - 1)
        }
        #expect(shares.places(of: quiet, 4) == 0, "both were over before")
        #expect(shares.places(of: DeviceID(5_000), 49_999) == 1)
        shares.remove(DeviceID(5_000), endingAt: 49_999)
        #expect(shares.places(of: DeviceID(5_000), 49_999) == 1, "it has no message with that end")
        shares.remove(DeviceID(5_000), endingAt: 50_000)
        #expect(shares.places(of: DeviceID(5_000), 49_999) == 0 && shares.isSound)
        shares.add(quiet, endingAt: 60_000, 50_000)
        shares.add(quiet, endingAt: 55_000, 50_000)
        #expect(shares.places(of: quiet, 54_999) == 2 && shares.places(of: quiet, 55_000) == 1)
    }
}
