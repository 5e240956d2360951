/// The sample configuration and the reference of its keys.
public enum ConfigPrinter {
    /// A `ccsd.yaml` with every key, its default and its documentation; all but `format` are commented out.
    public static func sample() -> String {
        var text = """
            # Configuration of ccsd, printed by: ccsctl config sample
            #
            # A line "#key: value" shows the default of a key; to change it, remove the # and edit the value.
            # Then run
            #   ccsd check --config FILE
            # and reload (systemctl reload ccsd) if the key mentions it, else restart.


            """
        for key in ConfigKey.allCases {
            let entry = key.entry
            for line in Wrap.lines(entry.help, width: 100) { text += "# \(line)\n" }
            for line in Wrap.lines(entry.reason, width: 100) { text += "# \(line)\n" }
            text +=
                "# Takes \(entry.type.allowed)\(unit(entry)).\(entry.isReloadable ? " A reload applies it." : "")\n"
            text += "\(key == .format ? "" : "#")\(key.rawValue): \(entry.preset.yaml)\n\n"
        }
        return String(text.dropLast())
    }

    /// The reference of all keys in Markdown.
    public static func reference() -> String {
        var text = """
            # Configuration

            Every key can be set in the file given by `--config`, as a flag of `ccsd`, or as an environment variable. Flags override
            the environment, the environment overrides the file, and the file overrides the defaults. Printed by
            `ccsctl config docs`.


            """
        for key in ConfigKey.allCases {
            let entry = key.entry
            text += "## `\(key.rawValue)`\n\n\(entry.help) \(entry.reason)\n\n"
            text += "- takes \(entry.type.allowed)\(unit(entry)); default `\(entry.preset.yaml)`\n"
            text +=
                key == .format
                ? "- only in the file\n" : "- flag `\(key.flag)`, variable `\(key.variable)`\n"
            text +=
                "- \(entry.isReloadable ? "a reload (SIGHUP) applies a change" : "a change needs a restart")"
            text += "; since \(entry.since)\n\n"
        }
        return String(text.dropLast())
    }

    private static func unit(_ entry: ConfigKey.Entry) -> String {
        entry.unit.isEmpty ? "" : " (\(entry.unit))"
    }
}
