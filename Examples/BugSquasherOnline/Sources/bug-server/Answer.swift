import Foundation
import HTTPTypes
import Hummingbird

/// An answer. It can be kept, so that a change that is sent again gets the answer of the first time.
struct Answer: Codable, Error {
  var status: Int
  var headers: [String: String] = [:]
  var body: String?

  static func json(_ value: some Encodable, status: Int = 200, headers: [String: String] = [:]) throws -> Answer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Answer(status: status, headers: headers, body: String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// The answer that has a bug.
  static func bug(_ bug: Bug, status: Int = 200) throws -> Answer {
    try json(bug, status: status, headers: ["ETag": bug.tag])
  }

  /// A refusal, with its reason for people.
  static func error(_ status: Int, _ message: String) -> Answer {
    (try? json(["message": message], status: status)) ?? Answer(status: status)
  }

  static func invalid(_ message: String) -> Answer { error(422, message) }
  static func notFound(_ id: Int) -> Answer { error(404, "There is no bug \(id).") }

  /// The same answer, or 304 if the client has what it says.
  func unless(_ request: Request) -> Answer {
    guard let tag = headers["ETag"], request.headers[.ifNoneMatch] == tag else { return self }
    return Answer(status: 304, headers: ["ETag": tag])
  }

  var response: Response {
    var fields = HTTPFields()
    for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
    if body != nil { fields[.contentType] = "application/json" }
    return Response(
      status: HTTPResponse.Status(code: status), headers: fields,
      body: body.map { ResponseBody(byteBuffer: ByteBuffer(string: $0)) } ?? ResponseBody())
  }
}
