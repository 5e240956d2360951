import Glibc
import Transport

/// Reads the kernel's counters of a process.
struct ProcessProbe {
    /// The process ID.
    let process: Int32

    /// The ID of this process.
    static var own: Int32 { getpid() }

    /// CPU time of all its threads so far, in nanoseconds; 0 if it has ended.
    var cpuNanoseconds: Int64 {
        var sum: Int64 = 0
        for thread in threads {
            guard let text = text("task/\(thread)/schedstat") else { continue }
            sum += Int64(text.split(separator: " ").first ?? "0") ?? 0
        }
        return sum
    }

    /// Resident memory in KiB; 0 if it has ended.
    var residentKiB: Int {
        for line in (text("status") ?? "").split(separator: "\n") where line.hasPrefix("VmRSS:") {
            return Int(line.split(separator: " ").dropFirst().first ?? "0") ?? 0
        }
        return 0
    }

    /// The IDs of its threads.
    var threads: [String] { numbers("task") }

    /// Number of open descriptors.
    var descriptors: Int { numbers("fd").count }

    /// Number of open sockets; unlike these, the descriptors of the store's files vary at any time.
    var sockets: Int {
        numbers("fd").count { number in
            var target = [CChar](repeating: 0, count: 8)
            let length = unsafe readlink("/proc/\(process)/fd/\(number)", &target, 7)
            return length == 7 && target[..<7].elementsEqual("socket:".utf8.map { CChar($0) })
        }
    }

    /// Returns the entries of a directory in /proc that are numbers.
    private func numbers(_ folder: String) -> [String] {
        Folder.names(in: "/proc/\(process)/\(folder)").filter { $0.first?.isNumber ?? false }
    }

    private func text(_ name: String) -> String? {
        guard let bytes = try? SmallFile.read("/proc/\(process)/\(name)") else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
