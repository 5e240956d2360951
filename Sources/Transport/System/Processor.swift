import CLinux
import Glibc

/// Processors of the machine, for measurements that must not disturb each other.
public enum Processor {
    /// How many there are.
    public static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Has a process (0: the calling thread) run on one processor only; false where the system refuses.
    @discardableResult
    public static func pin(process: Int32, to number: Int) -> Bool {
        clinux_pin(process, Int32(clamping: number)) == 0
    }
}
