import Glibc

/// The owner of a listening TCP port of this machine, if the system reveals it.
public enum PortHolder: Sendable, Equatable {
    /// systemd, for a socket unit.
    case systemd
    /// A process of root that may be systemd: this user cannot see which.
    case root
    /// A process of this user.
    case user(UInt32)
    /// The system does not reveal it.
    case unknown

    /// Returns the owner of a port.
    public static func of(port: UInt16) -> PortHolder {
        let isSystemd = unsafe access("/run/systemd/system", F_OK) == 0
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            guard let text = try? SmallFile.read(table, limit: 16_777_216) else { continue }
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                // sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode
                guard fields.count > 9, fields[3] == "0A",
                    let local = fields[1].split(separator: ":").last, UInt16(local, radix: 16) == port,
                    let user = UInt32(fields[7])
                else { continue }
                guard user == 0, isSystemd else { return .user(user) }
                return holdsFirstProcess("socket:[\(fields[9])]")
            }
        }
        return .unknown
    }

    /// Whether process 1 has a descriptor of this name.
    private static func holdsFirstProcess(_ name: String) -> PortHolder {
        guard let folder = unsafe opendir("/proc/1/fd") else { return .root }
        defer { unsafe closedir(folder) }
        while let entry = unsafe readdir(folder) {
            let number = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            var room = [CChar](repeating: 0, count: 64)
            let count = unsafe readlink("/proc/1/fd/\(number)", &room, room.count - 1)
            guard count > 0 else { continue }
            let target = String(
                decoding: room.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if target == name { return .systemd }
        }
        return .user(0)
    }
}
