import Basics
import Transport

/// A server under load.
protocol Target: AnyObject {
    /// Its name in reports.
    var name: String { get }
    /// Its process.
    var process: Int32 { get }
    /// Where app servers connect.
    var appServers: SocketAddress { get }
    /// Where devices connect.
    var devices: SocketAddress { get }
    /// What app servers log in with.
    var credential: AppServerCredential { get }
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
}
