#if HTTP
  import Foundation
  import RemoteIncrementalStore

  /// Texts of URLs below the base URL of a backend.
  struct Address: Hashable, Sendable {
    /// The base URL without a slash at its end.
    let base: String

    init(_ base: URL) {
      let text = base.absoluteString
      self.base = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// A path with parameters, which are sorted by name.
    func url(_ path: String, _ parameters: [String: String] = [:]) -> String {
      adding(parameters, to: path.isEmpty || path.hasPrefix("/") ? base + path : "\(base)/\(path)")
    }

    /// A URL with more parameters.
    func adding(_ parameters: [String: String], to url: String) -> String {
      guard !parameters.isEmpty else { return url }
      let pairs = parameters.sorted { $0.key < $1.key }.map { "\(Self.escaped($0))=\(Self.escaped($1))" }
      return url + (url.contains("?") ? "&" : "?") + pairs.joined(separator: "&")
    }

    /// The URL of an object of a collection. It ends with a slash if that of the collection does.
    func url(_ path: String, of identifier: RemoteIdentifier) throws -> String {
      let part = try Self.part(identifier)
      return url(path.hasSuffix("/") ? "\(path)\(part)/" : "\(path)/\(part)")
    }

    /// The URL that a template such as `/users/{id}/bugs` stands for.
    func url(
      template: String, _ parameters: [String: String] = [:], of identifier: RemoteIdentifier
    ) throws -> String {
      url(template.replacing("{id}", with: try Self.part(identifier)), parameters)
    }

    /// A URL that an answer or a cursor has given. Credentials are sent there, so it has to be at the same server.
    func url(following link: String, from page: String) throws -> String {
      guard let url = URL(string: link, relativeTo: URL(string: page))?.absoluteURL, let start = URL(string: base),
        Origin(url) == Origin(start)
      else { throw RemoteFailure.invalidAnswer("the next page is not at the same server") }
      return url.absoluteString
    }

    /// An identifier as a part of a path. Some texts would lead to another path.
    private static func part(_ identifier: RemoteIdentifier) throws -> String {
      guard !["", ".", ".."].contains(identifier.value) else {
        throw RemoteFailure.refused("\"\(identifier.value)\" is not an identifier that a path can have")
      }
      return escaped(identifier.value)
    }

    private static func escaped(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
  }

  /// A server.
  private struct Origin: Equatable {
    let scheme: String?
    let host: String?
    let port: Int?

    init(_ url: URL) {
      (scheme, host) = (url.scheme?.lowercased(), url.host()?.lowercased())
      port = url.port ?? (scheme == "https" ? 443 : 80)
    }
  }
#endif
