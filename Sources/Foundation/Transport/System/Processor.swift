import CLinux
import Glibc

/// Processors of the machine, for undisturbed measurements.
public enum Processor {
    /// The number of online processors.
    public static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Pins a process (0: the calling thread) to one processor. Returns false if the system refuses.
    @discardableResult
    public static func pin(process: Int32, to number: Int) -> Bool {
        clinux_pin(process, Int32(clamping: number)) == 0
    }
}
