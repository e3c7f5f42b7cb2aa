/// The length of the log over the writes done, with its needed bytes and the bound, drawn as SVG.
struct Chart {
  let samples: [Trial.Sample]
  let segmentSize: Int

  private static let width = 860.0
  private static let height = 420.0
  private static let left = 70.0
  private static let right = 20.0
  private static let top = 46.0
  private static let bottom = 56.0

  private struct Line {
    let name: String
    let colour: String
    let dashes: String
    let bytes: (Trial.Sample) -> Int
  }

  private var lines: [Line] {
    [
      Line(name: "1.3 × needed + 4 segments", colour: "#c0392b", dashes: "6 4") { $0.bound(segmentSize) },
      Line(name: "log", colour: "#1f5fa8", dashes: "none") { $0.log },
      Line(name: "needed", colour: "#2e8b57", dashes: "none") { $0.needed },
    ]
  }

  var svg: String {
    let last = Double(samples.map(\.writes).max() ?? 1)
    let highest = Double(samples.map { max($0.log, $0.bound(segmentSize)) }.max() ?? 1) / Double(1 << 20)
    let (xStep, yStep) = (Self.step(last / 8), Self.step(highest / 6))
    let (xMax, yMax) = ((last / xStep).rounded(.up) * xStep, (highest / yStep).rounded(.up) * yStep)
    func x(_ writes: Double) -> Double { Self.left + writes / xMax * (Self.width - Self.left - Self.right) }
    func y(_ mebibytes: Double) -> Double {
      Self.height - Self.bottom - mebibytes / yMax * (Self.height - Self.top - Self.bottom)
    }

    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      font-family="sans-serif" font-size="13">
      """,
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
    ]
    for tick in stride(from: 0, through: yMax, by: yStep) {
      parts.append(Self.rule(x(0), y(tick), x(xMax), y(tick), "#dddddd"))
      parts.append(Self.text(decimal(tick, 0), x(0) - 8, y(tick) + 4, "end"))
    }
    for tick in stride(from: 0, through: xMax, by: xStep) {
      parts.append(Self.rule(x(tick), y(0), x(tick), y(0) + 5, "#444444"))
      parts.append(Self.text(decimal(tick / 1e6, xStep < 1e6 ? 2 : 0), x(tick), y(0) + 20, "middle"))
    }
    parts.append(Self.rule(x(0), y(0), x(xMax), y(0), "#444444"))
    parts.append(Self.rule(x(0), y(0), x(0), y(yMax), "#444444"))
    parts.append(Self.text("changes written, millions", x(xMax / 2), Self.height - 14, "middle"))
    parts.append(Self.text("MiB", x(0), Self.top - 12, "end"))
    for (number, line) in lines.enumerated() {
      let points = samples.map {
        "\(decimal(x(Double($0.writes)), 1)),\(decimal(y(Double(line.bytes($0)) / Double(1 << 20)), 1))"
      }
      let style = "fill=\"none\" stroke=\"\(line.colour)\" stroke-width=\"1.6\" stroke-dasharray=\"\(line.dashes)\""
      parts.append("<polyline \(style) points=\"\(points.joined(separator: " "))\"/>")
      let start = Self.left + 60 + Double(number) * 240
      parts.append("<polyline \(style) points=\"\(start),22 \(start + 34),22\"/>")
      parts.append(Self.text(line.name, start + 42, 26, "start"))
    }
    return (parts + ["</svg>", ""]).joined(separator: "\n")
  }

  /// The smallest number not below `least` that is 1, 2 or 5 times a power of ten.
  private static func step(_ least: Double) -> Double {
    var power = 1.0
    while power * 10 <= least { power *= 10 }
    return [1, 2, 5].map { $0 * power }.first { $0 >= least } ?? 10 * power
  }

  private static func rule(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String) -> String {
    let (x1, y1, x2, y2) = (decimal(x1, 1), decimal(y1, 1), decimal(x2, 1), decimal(y2, 1))
    return "<line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\" stroke=\"\(colour)\"/>"
  }

  private static func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(decimal(x, 1))\" y=\"\(decimal(y, 1))\" text-anchor=\"\(anchor)\">\(text)</text>"
  }
}
