import Basics
import Catalogue
import Glibc
import Transport

/// Another server that the bench starts: on loopback, in its own directory, without privileges.
final class PeerProcess: Server {
    let name: String
    /// The address it listens on.
    let address: SocketAddress
    /// Its directory within the scratch directory.
    let folder: String
    private let child: Child
    var process: Int32 { child.process }

    /// Seconds in which it must start: an Erlang node that creates its tables takes the longest.
    private static let startSeconds = 60

    /// Starts `program` after filling its directory; it is ready when its port accepts connections and, if given, a file
    /// exists.
    init(
        _ bench: Bench, _ name: String, _ program: PeerProgram, readyFile: String? = nil,
        _ prepare: (PeerPlace) throws(BenchError) -> PeerCommand
    ) throws(BenchError) {
        self.name = name
        folder = bench.scratch + "/" + name
        let place = try PeerPlace(bench, folder: folder)
        let command = try prepare(place)
        try place.giveAway(bench)
        address = .loopback(port: place.port)
        // Its standard output is written to the log too, since it is not read while it runs.
        let words =
            PeerPlace.withoutPrivileges + ["env", "-C", folder]
            + command.environment.map { "\($0.0)=\($0.1)" } + [try program.path()] + command.arguments
        child = try bench.start(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" >&2"] + words, log: "\(name).log")
        let end = Now.read().monotonic.advanced(seconds: Self.startSeconds)
        while !(readyFile.map { unsafe access(folder + "/" + $0, F_OK) == 0 } ?? true)
            || !Self.isServed(address)
        {
            guard child.isRunning, Now.read().monotonic < end else {
                throw BenchError(
                    "\(name) did not start; see \(bench.scratch)/\(name).log", code: .unavailable)
            }
            _ = usleep(20_000)
        }
    }

    /// Opens a connection of the generator to a server that sends a line before TLS.
    func connectAfterGreeting(_ bench: Bench, _ owner: any ConnectionDelegate) throws(BenchError) {
        guard let connected = Self.dial(address) else { throw BenchError("\(name) no longer listens") }
        var byte: UInt8 = 0
        repeat {
            var wait = pollfd(fd: connected.number, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&wait, 1, Self.greetingMilliseconds) == 1,
                unsafe read(connected.number, &byte, 1) == 1
            else {
                throw BenchError("\(name) did not send a greeting")
            }
        } while byte != UInt8(ascii: "\n")
        do throws(TransportError) {
            _ = try bench.reactor.connect(
                over: connected, to: address, tls: bench.tls, serverName: "localhost", delegate: owner)
        } catch { throw BenchError(error.description) }
    }

    /// Milliseconds in which the greeting must arrive.
    private static let greetingMilliseconds: Int32 = 10_000

    /// Whether the port accepts connections.
    private static func isServed(_ address: SocketAddress) -> Bool { dial(address) != nil }

    /// Returns a connection to loopback, or `nil` if it fails.
    private static func dial(_ address: SocketAddress) -> Descriptor? {
        let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(owning: number)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = address.port.bigEndian
        place.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let isConnected = unsafe withUnsafePointer(to: &place) { place in
            unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return nil }
        return descriptor
    }
}

/// The command line of a peer.
struct PeerCommand {
    /// The arguments after the program.
    var arguments: [String]
    /// In addition to the environment of the bench.
    var environment: [(String, String)] = []
}

/// A program of a Debian package.
struct PeerProgram {
    /// Possible paths.
    let paths: [String]

    /// Another file that must exist.
    var needs: String?

    /// Its path; `nil` if it is not installed.
    var installed: String? {
        guard needs.map({ unsafe access($0, F_OK) == 0 }) ?? true else { return nil }
        return paths.first { unsafe access($0, X_OK) == 0 }
    }

    /// Returns its path. Throws if it is not installed.
    func path() throws(BenchError) -> String {
        guard let installed else { throw BenchError("\(paths[0]) is not installed", code: .unavailable) }
        return installed
    }

    static let mosquitto = PeerProgram(paths: ["/usr/sbin/mosquitto"])
    static let nats = PeerProgram(paths: ["/usr/sbin/nats-server"])
    static let prosody = PeerProgram(paths: ["/usr/bin/prosody"])
    /// ejabberd is started with `erl` itself: Debian's `ejabberdctl` requires its own user.
    static let ejabberd = PeerProgram(paths: ["/usr/bin/erl"], needs: "/usr/sbin/ejabberdctl")
}

/// The environment of a peer before its start: a directory with the certificate, and a free port.
struct PeerPlace {
    let folder: String
    /// A port that was free a moment ago.
    let port: UInt16
    /// The certificate, its key, and a file with both, as PEM.
    var certificate: String { folder + "/certificate.pem" }
    var key: String { folder + "/key.pem" }
    var both: String { folder + "/both.pem" }

    /// Creates the directory; the certificate is the same for all peers, for `localhost`, with a key on P-256.
    init(_ bench: Bench, folder: String) throws(BenchError) {
        self.folder = folder
        guard unsafe mkdir(folder, 0o700) == 0 else {
            throw BenchError("cannot create \(folder)", code: .inputOutput)
        }
        port = try Bench.freePort()
        let authority = CertificateAuthority(directory: bench.scratch)
        let chain: String
        let secret: String
        do throws(TransportError) {
            try authority.ensure(names: ["localhost", "127.0.0.1"], now: Now.read().wall)
            chain = String(decoding: try SmallFile.read(authority.certificateFile), as: UTF8.self)
            secret = String(decoding: try SmallFile.read(authority.keyFile), as: UTF8.self)
        } catch { throw BenchError(error.description) }
        try write("certificate.pem", chain)
        try write("key.pem", secret)
        try write("both.pem", chain + secret)
    }

    /// Writes a file for the peer without a sync: there are thousands of them.
    func write(_ name: String, _ text: String) throws(BenchError) {
        let path = folder + "/" + name
        guard let file = unsafe fopen(path, "w") else {
            throw BenchError("cannot write \(path)", code: .inputOutput)
        }
        let isWritten = unsafe fputs(text, file) >= 0
        guard unsafe fclose(file) == 0, isWritten else {
            throw BenchError("cannot write \(path)", code: .inputOutput)
        }
    }

    /// Creates a directory for the peer, below its own.
    func makeFolder(_ name: String) throws(BenchError) {
        guard unsafe mkdir(folder + "/" + name, 0o700) == 0 else {
            throw BenchError("cannot create \(name)", code: .inputOutput)
        }
    }

    /// The ID of Debian's unprivileged user and group, for a bench that runs as root.
    private static let unprivilegedID: uid_t = 65_534

    /// A prefix of commands that drops privileges; empty if the bench has none.
    static var withoutPrivileges: [String] {
        guard geteuid() == 0 else { return [] }
        return ["setpriv", "--reuid", "\(unprivilegedID)", "--regid", "\(unprivilegedID)", "--clear-groups"]
    }

    /// Changes the owner of the directory to that user.
    func giveAway(_ bench: Bench) throws(BenchError) {
        guard geteuid() == 0 else { return }
        // The user must be able to reach it; everything else in the scratch directory is private.
        guard unsafe chmod(bench.scratch, 0o711) == 0, Self.handOver(folder) else {
            throw BenchError("cannot change the owner of \(folder)", code: .inputOutput)
        }
    }

    private static func handOver(_ path: String) -> Bool {
        // Only a directory has entries.
        unsafe chown(path, unprivilegedID, unprivilegedID) == 0
            && Folder.names(in: path).allSatisfy { handOver(path + "/" + $0) }
    }
}
