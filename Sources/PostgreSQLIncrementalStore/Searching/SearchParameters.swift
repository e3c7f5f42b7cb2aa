#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// The parameters of a search, and their values in words.
  struct SearchParameters {
    private typealias Number = Parameters.TypeNumber

    private(set) var parameters = Parameters()
    /// Make the values in words, which few want to know.
    private var descriptions: [() -> String] = []

    var values: [String] { descriptions.map { $0() } }

    /// Adds a parameter. Returns its place in the statement.
    private mutating func add(
      _ description: @autoclosure @escaping () -> String, _ add: (inout Parameters) -> Void
    ) -> String {
      add(&parameters)
      descriptions.append(description)
      return "$\(descriptions.count)"
    }

    mutating func add(_ number: Int64) -> String { add("\(number)") { $0.add(number) } }

    mutating func add(_ number: Double) -> String {
      add("\(number)") { $0.add(Number.float8, number.bitPattern.bigEndianBytes) }
    }

    /// - Parameter text: Without the character NUL.
    mutating func add(_ text: String) -> String { add("\"\(text)\"") { $0.add(text) } }

    mutating func add(_ data: Data) -> String { add("\(data.count) bytes") { $0.add(Array(data)) } }

    mutating func add(_ uuid: UUID) -> String { add("\(uuid)") { $0.add(Number.uuid, uuid.bigEndianBytes) } }

    mutating func add(_ reference: RowReference) -> String {
      let type: UInt32 = if case .uuid = reference { Number.uuid } else { Number.int8 }
      return add("\(reference)") { $0.add(type, reference.columnBytes ?? []) }
    }

    mutating func add(_ numbers: [Int64]) -> String {
      add("\(numbers)") { $0.add(Number.int8Array, of: Number.int8, numbers.map(\.bigEndianBytes)) }
    }

    mutating func add(_ numbers: [Double]) -> String {
      add("\(numbers)") { $0.add(Number.float8Array, of: Number.float8, numbers.map(\.bitPattern.bigEndianBytes)) }
    }

    /// - Parameter texts: Without the character NUL.
    mutating func add(_ texts: [String]) -> String {
      add("\(texts)") { $0.add(Number.textArray, of: Number.text, texts.map { Array($0.utf8) }) }
    }

    mutating func add(_ uuids: [UUID]) -> String {
      add("\(uuids)") { $0.add(Number.uuidArray, of: Number.uuid, uuids.map(\.bigEndianBytes)) }
    }

    mutating func add(_ data: [Data]) -> String {
      add("\(data.count) values") { $0.add(data.map { Array($0) }) }
    }

    mutating func add(_ references: [RowReference], _ kind: RowReferenceKind) -> String {
      let (element, array) = kind == .uuid ? (Number.uuid, Number.uuidArray) : (Number.int8, Number.int8Array)
      return add("\(references.map(\.description))") {
        var values = ParameterArray()
        for reference in references { values.append(reference) }
        $0.add(array, of: element, values)
      }
    }
  }

  extension UUID {
    fileprivate var bigEndianBytes: [UInt8] { unsafe withUnsafeBytes(of: uuid) { unsafe Array($0) } }
  }
#endif
