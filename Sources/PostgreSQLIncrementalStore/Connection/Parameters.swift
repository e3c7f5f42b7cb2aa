#if PostgreSQL
  /// The parameters of a statement, in PostgreSQL's binary format.
  struct Parameters {
    /// The numbers of PostgreSQL's types.
    enum TypeNumber {
      static let bytea: UInt32 = 17
      static let int8: UInt32 = 20
      static let int4: UInt32 = 23
      static let text: UInt32 = 25
      static let int4Array: UInt32 = 1007
      static let byteaArray: UInt32 = 1001
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
      addArray(TypeNumber.int4Array, of: TypeNumber.int4, numbers) { $0.append(Int32(bitPattern: $1)) }
    }

    mutating func add(_ values: some Collection<[UInt8]>) {
      addArray(TypeNumber.byteaArray, of: TypeNumber.bytea, values) { $0.bytes += $1 }
    }

    private mutating func add(_ type: UInt32, _ write: (inout Parameters) -> Void) {
      types.append(type)
      write(&self)
      offsets.append(bytes.count)
    }

    private mutating func addArray<Element>(
      _ type: UInt32, of element: UInt32, _ elements: some Collection<Element>,
      _ write: (inout Parameters, Element) -> Void
    ) {
      add(type) { parameters in
        // Dimensions, whether there are nulls, the type, and the length and first index of the dimension.
        for number in [elements.isEmpty ? 0 : 1, 0, Int32(element)] { parameters.append(number) }
        guard !elements.isEmpty else { return }
        parameters.append(Int32(elements.count))
        parameters.append(Int32(1))
        for element in elements {
          let start = parameters.bytes.count
          parameters.append(Int32(0))
          write(&parameters, element)
          let length = UInt32(parameters.bytes.count - start - 4)
          for place in 0..<4 { parameters.bytes[start + place] = UInt8(truncatingIfNeeded: length >> (24 - 8 * place)) }
        }
      }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
      for place in stride(from: number.bitWidth - 8, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: number >> place))
      }
    }
  }
#endif
