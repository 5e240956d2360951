/// The sample configuration and the reference of its keys.
public enum ConfigPrinter {
    /// A `ccsd.yaml` with every key, its default and what it does; only `format` is live.
    public static func sample() -> String {
        var text = """
            # Configuration of ccsd, printed by: ccsctl config sample
            #
            # Each line that begins with #name: shows a default; remove the # to change it. After a change run
            #   ccsd check --config FILE
            # and then, where the key says so, reload (systemctl reload ccsd), else restart.


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

    /// The reference in Markdown.
    public static func reference() -> String {
        var text = """
            # Configuration

            Every key can stand in the file given by `--config`, be a flag of `ccsd`, or an environment variable. Flags win over
            the environment, the environment over the file, the file over the defaults. Printed by `ccsctl config docs`.


            """
        for key in ConfigKey.allCases {
            let entry = key.entry
            text += "## `\(key.rawValue)`\n\n\(entry.help) \(entry.reason)\n\n"
            text += "- takes \(entry.type.allowed)\(unit(entry)); default `\(entry.preset.yaml)`\n"
            text +=
                key == .format
                ? "- stands in the file only\n" : "- flag `\(key.flag)`, variable `\(key.variable)`\n"
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
