import Glibc
import Transport

/// What the kernel has counted for a process.
struct ProcessProbe {
    /// The process.
    let process: Int32

    /// The process that asks.
    static var own: Int32 { getpid() }

    /// CPU time of all its threads so far, in nanoseconds; 0 where it is gone.
    var cpuNanoseconds: Int64 {
        var sum: Int64 = 0
        for thread in threads {
            guard let text = text("task/\(thread)/schedstat") else { continue }
            sum += Int64(text.split(separator: " ").first ?? "0") ?? 0
        }
        return sum
    }

    /// Resident memory in KiB; 0 where it is gone.
    var residentKiB: Int {
        for line in (text("status") ?? "").split(separator: "\n") where line.hasPrefix("VmRSS:") {
            return Int(line.split(separator: " ").dropFirst().first ?? "0") ?? 0
        }
        return 0
    }

    /// Its threads, by number.
    var threads: [String] { numbers("task") }

    /// How many descriptors it has open.
    var descriptors: Int { numbers("fd").count }

    /// How many of them are sockets: those of a store's files come and go as it likes.
    var sockets: Int {
        numbers("fd").count { number in
            var target = [CChar](repeating: 0, count: 8)
            let length = unsafe readlink("/proc/\(process)/fd/\(number)", &target, 7)
            return length == 7 && target[..<7].elementsEqual("socket:".utf8.map { CChar($0) })
        }
    }

    /// The entries of a folder of its own that are numbers.
    private func numbers(_ folder: String) -> [String] {
        Folder.names(in: "/proc/\(process)/\(folder)").filter { $0.first?.isNumber ?? false }
    }

    private func text(_ name: String) -> String? {
        guard let bytes = try? SmallFile.read("/proc/\(process)/\(name)") else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
