#if PostgreSQL
  import CLibPQ
  import Foundation

  /// What somebody would write by hand with libpq: prepared statements, binary parameters, arrays for many rows.
  final class Peer {
    struct Failure: Error {
      let state: String
      let message: String
    }

    enum Parameter {
      case int8(Int64)
      case bytes([UInt8])
      case many([[UInt8]])
      case numbers([Int64])
      case texts([String])
      case flags([Bool])
      case uuid(UUID)
    }

    private let connection: OpaquePointer
    private var prepared: [String: String] = [:]

    init(_ address: String, namespace: String) throws {
      guard let connection = PQconnectdb(address) else { throw Failure(state: "08000", message: "no memory") }
      self.connection = connection
      try run("SET search_path TO \"\(namespace)\", pg_catalog")
    }

    deinit { PQfinish(connection) }

    func run(_ statement: String) throws { PQclear(try checked(PQexec(connection, statement))) }

    /// Ends a transaction that was refused, unless it has ended by that.
    func rollBack() throws {
      if PQtransactionStatus(connection) != PQTRANS_IDLE { try run("ROLLBACK") }
    }

    /// Calls `body` with the result, and returns the number of rows that it has.
    @discardableResult
    func run(_ statement: String, _ parameters: [Parameter], _ body: (OpaquePointer) -> Void = { _ in }) throws -> Int {
      let name = try name(of: statement, parameters)
      let bytes = parameters.map(Self.bytes)
      let all: [UInt8] = Array(bytes.joined()) + [0]
      let result = all.withUnsafeBytes { buffer -> OpaquePointer? in
        var offset = 0
        let values = bytes.map { bytes -> UnsafePointer<CChar>? in
          defer { offset += bytes.count }
          return buffer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
        }
        let formats = [Int32](repeating: 1, count: bytes.count)
        return PQexecPrepared(connection, name, Int32(bytes.count), values, bytes.map { Int32($0.count) }, formats, 1)
      }
      let checked = try checked(result)
      defer { PQclear(checked) }
      body(checked)
      return Int(PQntuples(checked))
    }

    static func rows<Row>(_ result: OpaquePointer, _ make: (OpaquePointer, Int) -> Row) -> [Row] {
      (0..<Int(PQntuples(result))).map { make(result, $0) }
    }

    static func value(_ result: OpaquePointer, _ row: Int, _ column: Int) -> [UInt8] {
      bytes(result, row, column) { Array($0) }
    }

    static func number(_ result: OpaquePointer, _ row: Int, _ column: Int) -> Int64 {
      bytes(result, row, column) { $0.reduce(0) { $0 << 8 | Int64($1) } }
    }

    static func text(_ result: OpaquePointer, _ row: Int, _ column: Int) -> String {
      bytes(result, row, column) { String(decoding: $0, as: UTF8.self) }
    }

    private static func bytes<Value>(
      _ result: OpaquePointer, _ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer) -> Value
    ) -> Value {
      let start = PQgetvalue(result, Int32(row), Int32(column))
      return body(UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, Int32(row), Int32(column)))))
    }

    private func name(of statement: String, _ parameters: [Parameter]) throws -> String {
      if let name = prepared[statement] { return name }
      let name = "p\(prepared.count)"
      let types = parameters.map { parameter -> UInt32 in
        switch parameter {
        case .int8: 20
        case .bytes: 17
        case .many: 1001
        case .numbers: 1016
        case .texts: 1009
        case .flags: 1000
        case .uuid: 2950
        }
      }
      PQclear(try checked(PQprepare(connection, name, statement, Int32(types.count), types)))
      prepared[statement] = name
      return name
    }

    private func checked(_ result: OpaquePointer?) throws -> OpaquePointer {
      guard let result else { throw Failure(state: "08006", message: String(cString: PQerrorMessage(connection))) }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return result
      default: break
      }
      defer { PQclear(result) }
      // The character C.
      let state = PQresultErrorField(result, 67).map { String(cString: $0) } ?? "08006"
      throw Failure(state: state, message: String(cString: PQresultErrorMessage(result)))
    }

    private static func bytes(_ parameter: Parameter) -> [UInt8] {
      switch parameter {
      case .int8(let number): return big(number)
      case .bytes(let bytes): return bytes
      case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { Array($0) }
      case .many(let all): return array(17, all)
      case .numbers(let all): return array(20, all.map(big))
      case .texts(let all): return array(25, all.map { Array($0.utf8) })
      case .flags(let all): return array(16, all.map { [$0 ? 1 : 0] })
      }
    }

    private static func big(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    private static func array(_ element: Int32, _ all: [[UInt8]]) -> [UInt8] {
      var array = [Int32(1), 0, element, Int32(all.count), 1].flatMap(big)
      array.reserveCapacity(all.reduce(20) { $0 + 4 + $1.count })
      for bytes in all {
        array += big(Int32(bytes.count))
        array += bytes
      }
      return array
    }
  }
#endif
