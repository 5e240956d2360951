import Wire

/// Prints the dashboard for Grafana.
public enum DashboardPrinter {
    /// Columns of Grafana's grid, and panels in a row.
    private static let columns = 24
    private static let perRow = 3

    /// The dashboard as JSON, for Dashboards → Import.
    public static func dashboard() -> String {
        var panels: [JSONValue] = []
        var line = 0
        for row in Panel.rows {
            panels.append(rowHeader(row.title, id: panels.count + 1, line))
            line += 1
            let perRow = row.panels.first?.form == .number ? row.panels.count : Self.perRow
            let height = row.panels.first?.form == .number ? 4 : 8
            for (at, panel) in row.panels.enumerated() {
                let width = columns / perRow
                let place: JSONValue = [
                    "h": .integer(height), "w": .integer(width), "x": .integer(at % perRow * width),
                    "y": .integer(line + at / perRow * height),
                ]
                panels.append(json(panel, id: panels.count + 1, place))
            }
            line += (row.panels.count + perRow - 1) / perRow * height
        }
        let dashboard: JSONValue = [
            "title": "ccsd", "uid": "ccsd", "tags": ["ccsd"], "schemaVersion": 39, "version": 1,
            "editable": true, "refresh": "30s", "timezone": "browser",
            "time": ["from": "now-6h", "to": "now"],
            "templating": ["list": [source, instance]], "panels": .array(panels),
        ]
        return dashboard.pretty + "\n"
    }

    /// The variable that selects the data source.
    private static let source: JSONValue = [
        "name": "source", "label": "Data source", "type": "datasource", "query": "prometheus",
    ]

    /// The variable that selects the servers.
    private static let instance: JSONValue = [
        "name": "instance", "label": "Server", "type": "query", "datasource": place,
        "query": "label_values(ccs_ready, instance)", "refresh": 2, "multi": true, "includeAll": true,
        "current": ["text": "All", "value": "$__all"],
    ]

    private static let place: JSONValue = ["type": "prometheus", "uid": "${source}"]

    private static func rowHeader(_ title: String, id: Int, _ line: Int) -> JSONValue {
        [
            "id": .integer(id), "type": "row", "title": .string(title), "collapsed": false, "panels": [],
            "gridPos": ["h": 1, "w": .integer(columns), "x": 0, "y": .integer(line)],
        ]
    }

    private static func json(_ panel: Panel, id: Int, _ gridPos: JSONValue) -> JSONValue {
        let targets = panel.queries.enumerated().map { at, query -> JSONValue in
            let letters = Array("ABCDEFGHIJ")
            return [
                "refId": .string(String(letters[at])), "datasource": place, "expr": .string(query.expression),
                "legendFormat": .string(query.legend),
            ]
        }
        return [
            "id": .integer(id), "type": .string(panel.form.rawValue), "title": .string(panel.title),
            "description": .string(panel.note), "datasource": place, "gridPos": gridPos,
            "fieldConfig": ["defaults": ["unit": .string(panel.unit)], "overrides": []],
            "targets": .array(targets),
        ]
    }
}
