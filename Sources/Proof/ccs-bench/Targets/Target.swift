import Basics
import Transport
import Wire

/// A server under load.
protocol Server: AnyObject {
    var name: String { get }
    /// Its process ID.
    var process: Int32 { get }
    /// The processes whose CPU time counts as that of the server.
    var processes: [Int32] { get }
}

extension Server {
    var processes: [Int32] { [process] }
}

/// A server for app servers and devices.
protocol Target: Server {
    /// The address for app servers.
    var appServers: SocketAddress { get }
    /// The address for devices.
    var devices: SocketAddress { get }
    /// The credentials of app servers.
    var credential: StreamCredential { get }
    /// The sender ID of all messages.
    var sender: SenderID { get }
    /// Returns `count` devices, ready to log in; calls `progress` with the number so far.
    func makeDevices(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice]
}

/// The identity of a device of the bench.
struct BenchDevice {
    /// The Android ID.
    var number: UInt64
    /// The security token.
    var secret: UInt64
    /// The registration token that app servers send to.
    var token: String

    /// Appends the first bytes of its connection: the version of MCS, and the login.
    func appendLogin(to buffer: inout ByteBuffer) {
        var login = MCS.LoginRequest()
        login.id = Array("ccs-bench".utf8)
        login.domain = Array("mcs.android.com".utf8)
        login.user = Array(String(number).utf8)
        login.resource = login.user
        login.authToken = Array(String(secret).utf8)
        login.usesRMQ2 = true
        login.authService = 2
        login.networkType = 1
        buffer.append(byte: MCS.version)
        login.append(to: &buffer)
    }
}
