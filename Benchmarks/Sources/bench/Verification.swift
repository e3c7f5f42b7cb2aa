/// Checks that the engines did the same work, without which the figures cannot be compared.
struct Verification {
  private(set) var complaints: [String] = []

  init(_ measurements: [Measurement], rows: UInt64) {
    for measurement in measurements {
      guard let reading = measurement.reading else { continue }
      let expected = Self.expectedRows(measurement, rows: rows)
      let bytes = reading.found * ValuePool.valueSize
      if let expected, reading.found != expected {
        complain(measurement, "found \(reading.found) rows instead of \(expected)")
      } else if reading.bytes != bytes {
        complain(measurement, "read \(reading.bytes) bytes instead of \(bytes)")
      }
    }
    compare(measurements)
  }

  private static func expectedRows(_ measurement: Measurement, rows: UInt64) -> Int? {
    switch measurement.workload {
    case .readmissing: 0
    case .readseq: Int(rows)
    case .seekrandom: nil
    default: measurement.operations
    }
  }

  /// Compares each reading with the first one of its workload and round.
  private mutating func compare(_ measurements: [Measurement]) {
    for (index, measurement) in measurements.enumerated() where measurement.workload.comparesChecksums {
      let first = measurements[..<index].first {
        $0.workload == measurement.workload && $0.round == measurement.round
      }
      guard let first, first.reading != measurement.reading else { continue }
      complain(measurement, "did not read what \(first.engine.name) read")
    }
  }

  private mutating func complain(_ measurement: Measurement, _ what: String) {
    complaints.append(
      "\(measurement.engine.name), \(measurement.workload.rawValue), round \(measurement.round + 1): \(what)")
  }
}
