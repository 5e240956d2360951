import Wire

/// Prints the alert rules as a rule file of Prometheus.
public enum AlertPrinter {
    /// The rule file (YAML).
    public static func rules() -> String {
        var text = """
            # Alert rules for ccsd, printed by: ccsctl metrics alerts
            #
            # Prometheus reads them with rule_files. The job that scrapes ccsd is called ccsd.
            # docs/metrics.md lists them with what to do about each.
            groups:
              - name: ccsd
                rules:

            """
        for alert in Alert.all {
            text += "      - alert: \(alert.name)\n"
            text += "        expr: \(quoted(alert.expression))\n"
            text += "        for: \(alert.duration)\n"
            text += "        labels:\n          severity: \(alert.severity.rawValue)\n"
            text += "        annotations:\n"
            text += "          summary: \(quoted(alert.summary))\n"
            text += "          description: \(quoted(alert.action))\n"
        }
        return text
    }

    /// A scalar in double quotes: JSON strings are YAML.
    private static func quoted(_ text: String) -> String { JSONValue.string(text).compact }
}
