import Basics

extension ConfigKey {
    /// The message history.
    static let history: [ConfigKey: Entry] = [
        .historyHours: Entry(
            type: .integer(0...Limits.History.mostHours), preset: .integer(Limits.History.hours),
            unit: "hours",
            help:
                "How long the message history keeps the steps of each message, never its content, for ccsctl messages find and history; 0 switches it off and removes what was kept.",
            reason:
                "Most questions about a message are asked within a day. Whole files are removed, up to an eighth later."
        ),
        .historyBytes: Entry(
            type: .integer(0...1_125_899_906_842_624), preset: .integer(Limits.History.bytes), unit: "bytes",
            help:
                "Disk space for the message history, at most a tenth of the disk, beyond which the oldest part is removed; 0 switches it off and removes what was kept.",
            reason:
                "A message takes some 40 bytes. The history is evidence, not truth: a failure of its disk never stops messages."
        ),
    ]
}
