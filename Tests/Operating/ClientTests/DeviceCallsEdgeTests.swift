import Basics
import Client
import ClientProtocol
import Testing
import Wire

/// HTTPS requests of a device other than those for tokens.
@Suite struct DeviceCallsEdgeTests {
    @Test("A check-in has the identity of an existing device")
    func checkIn() throws {
        let known = try CheckInRequest(decoding: DeviceCalls.checkIn(DeviceBench.identity).body.raw)
        #expect(known.androidID == 600_000_000_000_000_001 && known.securityToken == 700_000_000_000_000_002)
        let fresh = try CheckInRequest(decoding: DeviceCalls.checkIn(nil).body.raw)
        #expect(fresh.androidID == 0 && fresh.securityToken == 0)
    }

    @Test("The removal of a registration has exactly these fields, with the instance of the app")
    func unregister() {
        let app = DeviceCalls.App(category: "a", sender: "1", instance: "i:1")
        let fields = "app=a&device=600000000000000001&sender=1&X-appid=i%3A1"
        let registered = DeviceCalls.register(app, DeviceBench.identity).body
        #expect(String(decoding: registered, as: UTF8.self) == fields)
        let taken = DeviceCalls.unregister(app, DeviceBench.identity).body
        #expect(String(decoding: taken, as: UTF8.self) == fields + "&delete=1")
    }
}
