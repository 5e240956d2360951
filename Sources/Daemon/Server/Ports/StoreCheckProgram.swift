import Basics
import Catalogue
import RocksStore
import Store
import Transport
import Wire

/// The command `ccsd check --store`: its output.
struct StoreCheckProgram {
    let configuration: Configuration

    /// Reads the store and prints the result. Returns the exit code.
    func run(isJSON: Bool) -> ExitCode {
        guard SmallFile.stamp(configuration.storePath) != nil else {
            Console.error("ccsd: there is no store in \(configuration.storePath)")
            Console.error("      give the options of the daemon, such as --data-directory or --config")
            return .inputOutput
        }
        do throws(StoreError) {
            let check = try RocksStore.check(path: configuration.storePath)
            if isJSON {
                Console.print(Self.json(check).compact)
            } else {
                for line in lines(check) { Console.print(line) }
            }
            return check.isWhole ? .success : .inputOutput
        } catch {
            let failure = StartupFailure(error, opening: configuration)
            Console.error("ccsd: \(failure.text)")
            Console.error("      \(failure.hint)")
            return failure.exitCode
        }
    }

    /// Returns the report.
    func lines(_ check: StoreCheck) -> [String] {
        var lines = check.damaged.map { "damaged: \($0)" }
        lines += check.unreadable.map { "unreadable: \(Printable.text($0))" }
        lines.append(
            "\(check.tables) tables with \(check.bytes) bytes were read in \(configuration.storePath).")
        guard check.isWhole else {
            let next =
                "copy the folder, check the disk, and restore a backup (\"A damaged store\" in docs/operations.md)"
            return lines + ["THE STORE IS DAMAGED: \(next)."]
        }
        return lines + [
            check.wasMarked
                ? "Everything can be read. The store is not marked as damaged any more."
                : "Everything can be read."
        ]
    }

    private static func json(_ check: StoreCheck) -> JSONValue {
        .object([
            .init("whole", .boolean(check.isWhole)), .init("tables", .integer(check.tables)),
            .init("bytes", .integer(check.bytes)),
            .init("damaged", .array(check.damaged.map { .string("\($0)") })),
            .init("unreadable", .array(check.unreadable.map { .string($0) })),
        ])
    }
}
