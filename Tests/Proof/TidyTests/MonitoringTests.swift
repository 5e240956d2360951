import Basics
import Catalogue
import Glibc
import Testing

/// The metrics, alerts and dashboard are valid for Prometheus and for each other.
@Suite struct MonitoringTests {
    static let hasPromtool = access("/usr/bin/promtool", X_OK) == 0

    /// A folder that is removed at the end of a test.
    private final class Folder {
        let path: String
        init() {
            var template = Array("/tmp/ccsd-monitoring-XXXXXX".utf8CString)
            path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
        }
        deinit { _ = SourceTree.output(of: "rm -rf \(path)") }

        /// Writes a file and returns its path.
        func write(_ text: String, _ name: String) -> String {
            guard let file = fopen("\(path)/\(name)", "w") else { return "" }
            fputs(text, file)
            fclose(file)
            return "\(path)/\(name)"
        }
    }

    @Test("the committed monitoring files are what ccsctl metrics prints")
    func printed() {
        #expect(SourceTree.read("docs/metrics.md") == MetricsPrinter.reference())
        #expect(SourceTree.read("docs/monitoring/ccsd-alerts.yaml") == AlertPrinter.rules())
        #expect(SourceTree.read("docs/monitoring/ccsd-dashboard.json") == DashboardPrinter.dashboard())
    }

    /// Returns the names in a text that look like metrics and are none.
    private static func unknownMetrics(in text: String) -> Set<String> {
        var known = Set(Metric.allCases.map(\.name))
        for metric in Metric.allCases where metric.kind == .histogram {
            for suffix in ["_bucket", "_sum", "_count"] { known.insert(metric.name + suffix) }
        }
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
        return Set(words.filter { $0.hasPrefix("ccs_") || $0.hasPrefix("process_") }).subtracting(known)
    }

    @Test("every metric of the alerts and the dashboard is in the table")
    func known() {
        #expect(Self.unknownMetrics(in: AlertPrinter.rules()) == [])
        #expect(Self.unknownMetrics(in: DashboardPrinter.dashboard()) == [])
        #expect(Self.unknownMetrics(in: "rate(ccs_messages_tota[5m])") == ["ccs_messages_tota"])
    }

    @Test("each alert has a name, a summary and an action of its own, and a sample")
    func alerts() {
        #expect(Alert.all.count >= 12)
        for path in [\Alert.name, \Alert.summary, \Alert.action, \Alert.expression] {
            #expect(Set(Alert.all.map { $0[keyPath: path] }).count == Alert.all.count)
        }
        #expect(Alert.all.allSatisfy { $0.summary.hasSuffix(".") && $0.action.hasSuffix(".") })
        #expect(AlertSample.all.map(\.alert) == Alert.all.map(\.name))
    }

    @Test(
        "promtool accepts the rules, and each alert fires with its sample and not without",
        .enabled(if: hasPromtool, "promtool is not installed"))
    func rules() {
        let folder = Folder()
        let rules = folder.write(AlertPrinter.rules(), "alerts.yaml")
        let checked = SourceTree.output(of: "promtool check rules \(rules)")
        #expect(
            checked.code == 0 && checked.text.contains("\(Alert.all.count) rules found"), "\(checked.text)")
        let tested = Self.tested(AlertPrinter.rules(), AlertSample.all, in: folder)
        #expect(tested.code == 0 && tested.text.contains("SUCCESS"), "\(tested.text)")
    }

    /// Runs the samples of alerts with promtool, each with the rule of its alert alone: promtool evaluates all rules for each sample.
    private static func tested(_ rules: String, _ samples: [AlertSample], in folder: Folder) -> (
        text: String, code: Int32
    ) {
        let mark = "      - alert: "
        let parts = rules.split(separator: mark)
        let files = samples.enumerated().map { at, sample in
            let own = parts.first { $0.hasPrefix("\(sample.alert)\n") } ?? ""
            let rule = folder.write("\(parts[0])\(mark)\(own)", "rule-\(at).yaml")
            return folder.write(AlertSample.unitTests(of: rule, [sample]), "tests-\(at).yaml")
        }
        return SourceTree.output(of: "promtool test rules \(files.joined(separator: " "))")
    }

    @Test(
        "promtool accepts the configuration of Prometheus in docs/metrics.md, with the printed alert rules",
        .enabled(if: hasPromtool, "promtool is not installed"))
    func configuration() throws {
        let page = try #require(SourceTree.read("docs/metrics.md"))
        let start = try #require(page.firstRange(of: "```yaml\n")).upperBound
        let end = try #require(page[start...].firstRange(of: "```")).lowerBound
        let folder = Folder()
        func check(_ text: String) -> (text: String, code: Int32) {
            SourceTree.output(of: "promtool check config \(folder.write(text, "prometheus.yml"))")
        }
        #expect(check(String(page[start..<end])).code != 0, "canary: the file of the rules is missing")
        _ = folder.write(AlertPrinter.rules(), "ccsd-alerts.yaml")
        let checked = check(String(page[start..<end]))
        #expect(
            checked.code == 0 && checked.text.contains("\(Alert.all.count) rules found"), "\(checked.text)")
    }

    @Test(
        "promtool accepts every query of the dashboard",
        .enabled(if: hasPromtool, "promtool is not installed"))
    func dashboard() {
        let folder = Folder()
        let lines = DashboardPrinter.dashboard().split(separator: "\n")
        let queries = lines.filter { $0.contains("\"expr\": ") }.map { line in
            line.drop { $0 != ":" }.dropFirst(2).replacing("$__rate_interval", with: "5m")
                .replacing("$instance", with: ".*")
        }
        #expect(queries.count > 30)
        var text = "groups:\n  - name: dashboard\n    rules:\n"
        for (at, query) in queries.enumerated() {
            let scalar = query.hasSuffix(",") ? String(query.dropLast()) : String(query)
            text += "      - record: query:\(at)\n        expr: \(scalar)\n"
        }
        let checked = SourceTree.output(of: "promtool check rules \(folder.write(text, "queries.yaml"))")
        #expect(checked.code == 0, "\(checked.text)")
    }

    /// Returns a page on which every metric has a value.
    private static func page() -> String {
        let metrics = Metrics(shards: 1)
        var series: [MetricSeries] = []
        for metric in Metric.allCases {
            guard metric.isListed else {
                series.append(MetricSeries(metric, labels: metric.labels.map { _ in "a" }, 1))
                continue
            }
            let second = metric.labels.count > 1 ? metric.labels[1].values.count : 1
            for first in 0..<(metric.labels.first?.values.count ?? 1) {
                for inner in 0..<second {
                    if metric.kind == .histogram {
                        metrics.shards[0].observe(microseconds: 6_000, in: metric, first, inner)
                    } else {
                        metrics.shards[0].add(3, to: metric, first, inner)
                    }
                }
            }
        }
        var buffer = ByteBuffer()
        metrics.render(series, to: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self)
    }

    @Test(
        "promtool finds nothing to improve in the names, units and texts of the metrics",
        .enabled(if: hasPromtool, "promtool is not installed"))
    func metrics() {
        let page = Folder()
        let checked = SourceTree.output(of: "promtool check metrics < \(page.write(Self.page(), "page"))")
        #expect(checked.code == 0 && checked.text == "", "\(checked.text)")
    }

    @Test(
        "canary: promtool reports a wrong page, a wrong rule and an alert that does not fire",
        .enabled(if: hasPromtool, "promtool is not installed"))
    func canary() throws {
        let folder = Folder()
        let page = "# HELP ccs_x_milliseconds A.\n# TYPE ccs_x_milliseconds counter\nccs_x_milliseconds 1\n"
        let checked = SourceTree.output(of: "promtool check metrics < \(folder.write(page, "page"))")
        #expect(checked.code != 0 && checked.text.contains("counter"), "\(checked.text)")
        let wrong = AlertPrinter.rules().replacing("ccs_ready == 0", with: "ccs_ready == = 0")
        #expect(
            SourceTree.output(of: "promtool check rules \(folder.write(wrong, "wrong.yaml"))").code != 0)
        let deaf = AlertPrinter.rules().replacing("ccs_ready == 0", with: "ccs_ready == 5")
        let tested = Self.tested(deaf, AlertSample.all, in: folder)
        #expect(tested.code != 0 && tested.text.contains("CcsdNotReady"), "\(tested.text)")
    }
}
