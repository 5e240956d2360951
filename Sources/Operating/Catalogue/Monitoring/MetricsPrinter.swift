import Basics

/// Prints the reference of the metrics and alerts.
public enum MetricsPrinter {
    /// The reference in Markdown.
    public static func reference() -> String {
        var text = """
            # Metrics

            `/metrics` on `admin_port` has the metrics of ccsd in the text format of Prometheus. They are read on loopback unless
            `admin_address` and `admin_plain_http` are set. `ccsctl top` shows the most important ones live, `ccsctl health` judges
            them, and `ccsctl explain NAME` explains one. Printed by `ccsctl metrics docs`.

            ```yaml
            # prometheus.yml
            scrape_configs:
              - job_name: ccsd
                static_configs:
                  - targets: ["127.0.0.1:9100"]
            rule_files: [ccsd-alerts.yaml]
            ```

            `ccsctl metrics alerts > ccsd-alerts.yaml` prints the alert rules, `ccsctl metrics dashboard > ccsd.json` a dashboard to
            import into Grafana; both are also in [monitoring](monitoring).

            Durations are in seconds and sizes in bytes. Labels have fixed values, except for `sender`: the
            \(Limits.Metrics.namedSenders) busiest senders have series of their own, and `other` counts the messages of every sender
            while it is not one of them, so no counter falls when the order changes. Metrics with more than
            \(Limits.Log.renderedZeroCells) cells leave out those that are 0.

            | metric | type | labels | meaning |
            |---|---|---|---|

            """
        for metric in Metric.allCases {
            let labels = metric.labels.map { "`\($0.name)`" }.joined(separator: ", ")
            text += "| `\(metric.name)` | \(metric.kind.rawValue) | \(labels) | \(metric.help) |\n"
        }
        return text + labels() + histograms() + alerts()
    }

    /// The values of the labels with a few fixed values.
    private static func labels() -> String {
        var text = "\n## Labels\n\n| label | values |\n|---|---|\n"
        let pairs = Metric.allCases.flatMap { metric in metric.labels.map { (metric, $0) } }
        var seen: Set<String> = []
        for (metric, label) in pairs where !label.values.isEmpty {
            guard label.values.count <= 13, seen.insert("\(label)").inserted else { continue }
            // A label may have other values with other metrics.
            let isShared = pairs.allSatisfy {
                $1.name != label.name || $1.values.isEmpty || $1.values == label.values
            }
            let owner = isShared ? "" : " of `\(metric.name)`"
            let values = label.values.map { "`\($0)`" }.joined(separator: ", ")
            text += "| `\(label.name)`\(owner) | \(values) |\n"
        }
        text += "\nThe values of `reason` and `milestone` are explained by `ccsctl explain`; "
        return text + "`endpoint` is a method and path of `/openapi.json`.\n"
    }

    private static func histograms() -> String {
        var text = "\n## Bounds of the histograms\n\n| histogram | upper bounds in seconds |\n|---|---|\n"
        for metric in Metric.allCases where metric.kind == .histogram {
            let bounds = metric.bounds.map { Metrics.seconds($0) }.joined(separator: ", ")
            text += "| `\(metric.name)` | \(bounds) |\n"
        }
        return text
    }

    private static func alerts() -> String {
        var text = """

            ## Alerts

            Each alert has a summary and, as its description, what to do.


            """
        for alert in Alert.all {
            text += "### \(alert.name) (\(alert.severity.rawValue))\n\n\(plain(alert.summary))\n\n"
            text += "```promql\n\(alert.expression)\n```\n\n"
            text += alert.duration == "0m" ? "At once. " : "For \(alert.duration). "
            text += "**What to do**: \(plain(alert.action))\n\n"
        }
        return String(text.dropLast())
    }

    /// The text of a template: its values by name.
    private static func plain(_ text: String) -> String {
        text.replacing("{{ $value | humanizeDuration }}", with: "some days")
            .replacing("{{ $value | humanizePercentage }}", with: "Most")
            .replacing("{{ $value | humanize }}", with: "Many").replacing("{{ $value }}", with: "Many")
            .replacing("{{ $labels.ended }}", with: "session or batch")
            .replacing("{{ $labels.direction }}", with: "downstream or upstream")
            .replacing("{{ $labels.kind }}", with: "app servers or devices")
            .replacing("{{ $labels.reason }}", with: "REASON")
    }
}
