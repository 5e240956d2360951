/// Returns the test bench to its start.
public struct ResetTestBench: OperatorCommand {
    public static let summary = OperationSummary.changing(
        "test-bench reset", "Remove all virtual devices with their inboxes, all recorders and all faults.",
        details: [
            "For the start of a test: nothing of an earlier one is left. The tokens of the devices end, as if their apps were uninstalled."
        ])
    public static let fields = Fields(ResetTestBench.init)

    /// What was removed.
    public struct Answer: Record {
        public var devices: Int
        public var recorders: Int
        public var faults: Int

        /// Creates an answer.
        public init(devices: Int, recorders: Int, faults: Int) {
            self.devices = devices
            self.recorders = recorders
            self.faults = faults
        }

        public static let fields = Fields(
            Answer.init(devices:recorders:faults:),
            .required("devices", .count, \.devices, "The number of virtual devices that were removed."),
            .required("recorders", .count, \.recorders, "The number of recorders that were removed."),
            .required("faults", .count, \.faults, "The number of faults that were removed."))
    }
}
