import Catalogue
import Glibc

/// Checks a configuration file without a daemon by running `ccsd check`.
enum CheckFile {
    /// Replaces this process by `ccsd check`. Returns only if ccsd cannot be run.
    static func run(_ file: String, isJSON: Bool) -> ExitCode {
        let words = ["ccsd", "check", "--config", file] + (isJSON ? ["--json"] : [])
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        unsafe arguments.append(nil)
        if let beside = ownFolder().map({ "\($0)/ccsd" }) { unsafe execv(beside, arguments) }
        unsafe execvp("ccsd", arguments)
        return Output.fail(
            .unavailable, "cannot run ccsd: \(unsafe String(cString: strerror(errno)))",
            hint: "install ccsd in the folder of ccsctl or in PATH", isJSON: isJSON)
    }

    /// The folder that this program is in.
    private static func ownFolder() -> String? {
        var room = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &room, room.count)
        let bytes = room.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: bytes[..<slash], as: UTF8.self)
    }
}
