import Basics
import Transport
import Wire

/// A server under load.
protocol Server: AnyObject {
    /// Its name in reports.
    var name: String { get }
    /// Its process.
    var process: Int32 { get }
}

/// A server that app servers and devices connect to.
protocol Target: Server {
    /// Where app servers connect.
    var appServers: SocketAddress { get }
    /// Where devices connect.
    var devices: SocketAddress { get }
    /// What app servers log in with.
    var credential: StreamCredential { get }
    /// The sender ID of all messages.
    var sender: SenderID { get }
    /// So many devices, ready to log in; `progress` is told how many are made.
    func makeDevices(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice]
}

/// What makes a device of the bench.
struct BenchDevice {
    /// The Android id.
    var number: UInt64
    /// The security token.
    var secret: UInt64
    /// The registration token that app servers send to.
    var token: String

    /// The first bytes of its connection: the version of MCS, and who it is.
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
