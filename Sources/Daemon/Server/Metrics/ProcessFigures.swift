import Basics
import Glibc
import Transport

/// The figures of the process and of its disk.
struct ProcessFigures {
    /// Returns what measures the disk of a folder and the open descriptors, whose count is not cheap with many connections.
    static func measuring(_ folder: String, in shard: MetricShard) -> @Sendable () -> Void {
        return {
            if let space = DeviceSpace(of: folder) {
                shard.set(.diskFreeBytes, to: space.free)
                shard.set(.diskSizeBytes, to: space.size)
            }
            if let count = openDescriptors { shard.set(.processOpenDescriptors, to: count) }
            if let limit = DescriptorLimit.current { shard.set(.processMaxDescriptors, to: limit) }
        }
    }

    /// Sets the cheap figures: processor time, memory and the start.
    static func refresh(_ shard: MetricShard) {
        var usage = rusage()
        if unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 {
            shard.set(.processCPU, to: microseconds(usage.ru_utime) + microseconds(usage.ru_stime))
        }
        // Pages: total, resident, …
        let pages = text("/proc/self/statm").split(separator: " ").compactMap { Int($0) }
        if pages.count > 1 {
            let size = Int(sysconf(Int32(_SC_PAGESIZE)))
            shard.set(.processVirtualMemory, to: pages[0] * size)
            shard.set(.processResidentMemory, to: pages[1] * size)
        }
    }

    private static func microseconds(_ time: timeval) -> Int {
        Int(time.tv_sec) * 1_000_000 + Int(time.tv_usec)
    }

    private static func text(_ path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The number of open descriptors. Linux from 6.2 on reports it as the size of the folder; before, its entries are counted.
    private static var openDescriptors: Int? {
        let path = "/proc/self/fd"
        var status = stat()
        if unsafe stat(path, &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        guard let folder = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(folder) }
        // Not the entries `.` and `..`, nor the descriptor of the folder.
        var count = -3
        while unsafe readdir(folder) != nil { count += 1 }
        return count
    }
}
