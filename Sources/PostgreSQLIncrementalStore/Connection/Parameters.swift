#if PostgreSQL
  import RowFormat

  /// The parameters of a statement, in PostgreSQL's binary format.
  struct Parameters {
    /// The numbers of PostgreSQL's types.
    enum TypeNumber {
      static let bool: UInt32 = 16
      static let bytea: UInt32 = 17
      static let int8: UInt32 = 20
      static let int4: UInt32 = 23
      static let text: UInt32 = 25
      static let float8: UInt32 = 701
      static let boolArray: UInt32 = 1000
      static let int4Array: UInt32 = 1007
      static let byteaArray: UInt32 = 1001
      static let textArray: UInt32 = 1009
      static let int8Array: UInt32 = 1016
      static let float8Array: UInt32 = 1022
      static let uuidArray: UInt32 = 2951
      static let uuid: UInt32 = 2950
    }

    private(set) var types: [UInt32] = []
    private(set) var bytes: [UInt8] = []
    /// Where each parameter begins in the bytes, and where the last one ends.
    private(set) var offsets: [Int] = [0]

    mutating func add(_ number: Int64) { add(TypeNumber.int8) { $0.append(number) } }

    mutating func add(_ number: UInt32) { add(TypeNumber.int4) { $0.append(Int32(bitPattern: number)) } }

    mutating func add(_ value: [UInt8]) { add(TypeNumber.bytea) { $0.bytes += value } }

    mutating func add(_ text: String) { add(TypeNumber.text) { $0.bytes += text.utf8 } }

    mutating func add(uuid: UInt128) { add(TypeNumber.uuid) { $0.append(uuid) } }

    mutating func add(_ numbers: some Collection<UInt32>) {
      add(TypeNumber.int4Array, of: TypeNumber.int4, numbers.map { Int32(bitPattern: $0).bigEndianBytes })
    }

    mutating func add(_ values: some Collection<[UInt8]>) {
      add(TypeNumber.byteaArray, of: TypeNumber.bytea, values.map(\.self))
    }

    /// Adds a value in PostgreSQL's binary format.
    mutating func add(_ type: UInt32, _ value: [UInt8]) { add(type) { $0.bytes += value } }

    /// Adds an array of values in PostgreSQL's binary format; nil is null.
    mutating func add(_ type: UInt32, of element: UInt32, _ values: some Collection<[UInt8]?>) {
      add(type) { parameters in
        for number in [values.isEmpty ? 0 : 1, values.contains(nil) ? 1 : 0, Int32(element)] {
          parameters.append(number)
        }
        guard !values.isEmpty else { return }
        parameters.append(Int32(values.count))
        parameters.append(Int32(1))
        for value in values {
          parameters.append(value.map { Int32($0.count) } ?? -1)
          if let value { parameters.bytes += value }
        }
      }
    }

    /// Adds an array.
    mutating func add(_ type: UInt32, of element: UInt32, _ array: ParameterArray) {
      add(type) { parameters in
        for number in [array.count > 0 ? 1 : 0, array.hasNull ? 1 : 0, Int32(element)] { parameters.append(number) }
        guard array.count > 0 else { return }
        parameters.append(Int32(array.count))
        parameters.append(Int32(1))
        parameters.bytes += array.bytes
      }
    }

    private mutating func add(_ type: UInt32, _ write: (inout Parameters) -> Void) {
      types.append(type)
      write(&self)
      offsets.append(bytes.count)
    }

    private mutating func append(_ number: some FixedWidthInteger) { bytes.append(bigEndian: number) }
  }

  /// The values of an array in PostgreSQL's binary format, to which one after the other is added.
  struct ParameterArray {
    private(set) var bytes: [UInt8] = []
    private(set) var count = 0
    private(set) var hasNull = false

    mutating func append(_ value: some Collection<UInt8>) {
      count += 1
      bytes.append(bigEndian: Int32(value.count))
      bytes += value
    }

    mutating func append(bigEndian number: some FixedWidthInteger) {
      count += 1
      bytes.append(bigEndian: Int32(number.bitWidth / 8))
      bytes.append(bigEndian: number)
    }

    /// Appends a reference as a column has it; null for texts, which no store here has.
    mutating func append(_ reference: RowReference) {
      switch reference {
      case .integer(let number): append(bigEndian: number)
      case .uuid(let number): append(bigEndian: number)
      case .string: appendNull()
      }
    }

    mutating func appendNull() {
      count += 1
      hasNull = true
      bytes.append(bigEndian: Int32(-1))
    }

    /// The only value of an array that has one; nil for null.
    var onlyValue: [UInt8]? { hasNull ? nil : Array(bytes.dropFirst(4)) }
  }

  extension [UInt8] {
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
      unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
  }
#endif
