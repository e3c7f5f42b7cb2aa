#if PostgreSQL
  import CoreData
  import RowFormat

  /// A column of the server, and how its values are sent.
  struct ServerColumn: Sendable {
    /// Without quotes.
    let name: String
    /// The number of PostgreSQL's type of the values that are sent, and of arrays of them.
    let (element, array): (UInt32, UInt32)
    /// The type to which the server converts what is sent; nil if that is what was sent.
    let cast: String?
    let quoted: String

    init(name: String, element: UInt32, array: UInt32, cast: String?) {
      (self.name, self.element, self.array, self.cast) = (name, element, array, cast)
      quoted = Connection.quoted(name)
    }

    /// The value in a row `n` of what is sent.
    func sent(_ place: Int) -> String { "n.c\(place)" + (cast.map { "::\($0)" } ?? "") }
  }

  extension Layout.Column {
    /// The columns of the server in which a property is.
    func serverColumns(_ kind: RowReferenceKind) -> [ServerColumn] {
      typealias Number = Parameters.TypeNumber
      func one(_ element: UInt32, _ array: UInt32, _ cast: String? = nil) -> [ServerColumn] {
        [ServerColumn(name: name, element: element, array: array, cast: cast)]
      }
      return switch self.kind {
      case .boolean: one(Number.bool, Number.boolArray)
      case .integer: one(Number.int8, Number.int8Array)
      case .double, .date: one(Number.float8, Number.float8Array)
      case .decimal: one(Number.text, Number.textArray, "numeric")
      case .uri: one(Number.text, Number.textArray)
      case .composite: one(Number.text, Number.textArray, "jsonb")
      case .data, .transformed: one(Number.bytea, Number.byteaArray)
      case .uuid: one(Number.uuid, Number.uuidArray)
      case .toOne:
        kind == .uuid ? one(Number.uuid, Number.uuidArray) : one(Number.int8, Number.int8Array)
      case .text:
        [name, normalizedName, foldedName].map {
          ServerColumn(name: $0, element: Number.text, array: Number.textArray, cast: nil)
        }
      }
    }
  }

  /// What the columns of rows have, in PostgreSQL's binary format.
  struct ColumnValues {
    /// For each column of the server the values of the rows.
    private(set) var arrays: [ParameterArray]
    /// For each row whether a column has something else than the bytes.
    private(set) var areInexact = ParameterArray()
    private var isInexact = false
    /// The next column of the server.
    private var place = 0

    /// - Parameter count: How many columns of the server there are.
    init(count: Int) { arrays = Array(repeating: ParameterArray(), count: count) }

    /// The values of one column.
    init(_ value: StoredValue, _ column: Layout.Column, count: Int) {
      self.init(count: count)
      add(value, column)
    }

    /// - Parameter row: The bytes of a row of the table.
    mutating func add(_ row: [UInt8], _ columns: [Layout.Column], _ completion: RowCompletion?) throws(RowDamage) {
      let row = try completion?.completed(row) ?? row
      (place, isInexact) = (0, false)
      var fields = try FieldReader(row)
      var next = try fields.next()
      for column in columns {
        while let found = next, found.number < column.property { next = try fields.next() }
        let field = next?.number == column.property ? next?.field : nil
        if let field, field.type == .string, column.kind == .text, add(plain: row[field.range]) { continue }
        add(try field.map { field throws(RowDamage) in try StoredValue(field, in: row) } ?? .null, column)
      }
      areInexact.append(CollectionOfOne(isInexact ? 1 : 0))
    }

    private mutating func append(_ value: some Collection<UInt8>) {
      arrays[place].append(value)
      place += 1
    }

    private mutating func append(bigEndian number: some FixedWidthInteger) {
      arrays[place].append(bigEndian: number)
      place += 1
    }

    private mutating func appendNull() {
      arrays[place].appendNull()
      place += 1
    }

    private mutating func append(_ reference: RowReference) {
      arrays[place].append(reference)
      place += 1
    }

    private mutating func add(_ value: StoredValue, _ column: Layout.Column) {
      switch (column.kind, value) {
      case (.text, .null): for _ in 0..<3 { appendNull() }
      case (_, .null): appendNull()
      case (.boolean, .bool(let value)): append(CollectionOfOne(value ? 1 : 0))
      case (.integer, .integer(let value)): append(bigEndian: value)
      case (.double, .double(let value)), (.date, .date(let value)): append(bigEndian: value.bitPattern)
      case (.double, .float(let value)): append(bigEndian: Double(value).bitPattern)
      case (.decimal, .decimal(let value)): append(value.utf8)
      case (.text, .string(let value)): add(text: storable(value))
      case (.uri, .uri(let value)), (.uri, .identifier(let value)): append(storable(value).utf8)
      case (.data, .data(let value)), (.transformed, .transformed(let value)): append(value)
      case (.uuid, .uuid(let value)): append(value)
      case (.toOne, .object(let value)): append(value.reference)
      case (.composite, .composite(let elements)):
        var json = ""
        write(elements, to: &json)
        append(json.utf8)
      default:
        // A value of another type, which is damage, is found when the row is read.
        isInexact = true
        add(.null, column)
      }
    }

    private mutating func add(text: String) {
      let bytes = Array(text.utf8)
      append(bytes)
      for other in [Array(Self.normalized(text).utf8), Array(Self.folded(text).utf8)] {
        if other == bytes { appendNull() } else { append(other) }
      }
    }

    /// Adds a text of ASCII without NUL: this is in normalisation form C, and folding changes only its capitals.
    ///
    /// - Returns: False, and adds nothing, if the text has other characters.
    private mutating func add(plain text: ArraySlice<UInt8>) -> Bool {
      let bytes = text.span
      var (isPlain, hasCapitals) = (true, false)
      for place in bytes.indices {
        isPlain = isPlain && 1..<0x80 ~= bytes[place]
        hasCapitals = hasCapitals || bytes[place].isCapital
      }
      guard isPlain else { return false }
      append(text)
      appendNull()
      if hasCapitals { append(text.map { $0.isCapital ? $0 | 0x20 : $0 }) } else { appendNull() }
      return true
    }

    /// A text in normalisation form C: texts that are equal to a predicate are the same then.
    static func normalized(_ text: String) -> String { TextPreparation([]).prepare(text) }

    /// A text without case and diacritics, as predicates with both options compare it.
    static func folded(_ text: String) -> String {
      TextPreparation([.caseInsensitive, .diacriticInsensitive]).prepare(text)
    }

    /// A text as the server can have it: without the character NUL.
    private mutating func storable(_ text: String) -> String {
      guard text.utf8.contains(0) else { return text }
      isInexact = true
      return String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 }))
    }

    // MARK: Composite values

    private mutating func write(_ elements: [StoredValue.Element], to json: inout String) {
      json += "{"
      for (place, element) in elements.enumerated() {
        json += place == 0 ? "" : ","
        write(element.name, to: &json)
        json += ":"
        write(element.value, to: &json)
      }
      json += "}"
    }

    private mutating func write(_ value: StoredValue, to json: inout String) {
      switch value {
      case .null: json += "null"
      case .bool(let value): json += "\(value)"
      case .integer(let value): json += "\(value)"
      case .double(let value), .date(let value): write(value, to: &json)
      case .float(let value): write(Double(value), to: &json)
      case .string(let value), .decimal(let value), .uri(let value), .identifier(let value): write(value, to: &json)
      case .uuid(let value): write(value.description, to: &json)
      case .object(let value): write(value.reference.description, to: &json)
      case .data(let value), .transformed(let value): write(Data(value).base64EncodedString(), to: &json)
      case .composite(let elements): write(elements, to: &json)
      }
    }

    private mutating func write(_ number: Double, to json: inout String) {
      if number.isFinite { json += "\(number)" } else { write("\(number)", to: &json) }
    }

    private mutating func write(_ text: String, to json: inout String) {
      json += "\""
      for scalar in storable(text).unicodeScalars {
        switch scalar {
        case "\"": json += "\\\""
        case "\\": json += "\\\\"
        case _ where scalar.value < 0x20:
          let digits = String(scalar.value, radix: 16)
          json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: json.unicodeScalars.append(scalar)
        }
      }
      json += "\""
    }
  }

  extension RowReference {
    /// The reference in a column of the type `bigint` or `uuid`; nil for texts, which no store here has.
    var columnBytes: [UInt8]? {
      switch self {
      case .integer(let number): number.bigEndianBytes
      case .uuid(let number): number.bigEndianBytes
      case .string: nil
      }
    }
  }

  extension UInt8 {
    /// Whether the byte is a capital letter of ASCII.
    fileprivate var isCapital: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }
  }

  extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] {
      unsafe Swift.withUnsafeBytes(of: bigEndian) { unsafe Array($0) }
    }
  }
#endif
