#if HTTP
  public import AsyncHTTPClient
  import Foundation
  public import RemoteIncrementalStore

  /// A service that speaks JSON over HTTP, as an ``HTTPDescription`` says.
  ///
  ///     let service = HTTPService(backend) { _ in ["Authorization": "Bearer \(await account.token())"] }
  ///
  /// Reading repeats a request once if its answer was lost; nothing else is ever repeated here. An entity tag that the
  /// store has goes with the request, and the answer 304 says that nothing has changed. A change has the version that
  /// it is based on in `If-Match`, and 412 is a conflict.
  ///
  /// | status | of a request that reads | of a change |
  /// |---|---|---|
  /// | 401, 403 | `RemoteFailure.unauthorized` | the same |
  /// | 404, 410 | gone | gone; a new object is refused |
  /// | 409, 412 | refused | a conflict; a new object of which the backend chooses the identifier is refused |
  /// | 408, 425, 429, 503, and 403 with `Retry-After` | later | later |
  /// | other 5xx | `RemoteFailure.answerLost` | the same |
  /// | 501 | `RemoteFailure.unsupported` | refused |
  /// | 3xx, other 4xx | refused | refused |
  ///
  /// Redirections are not followed, and the URL of a next page has to be at the same server, because both could take
  /// credentials elsewhere. Answers are not compressed, because servers change entity tags with the compression.
  ///
  /// The header `Cache-Control` of a list says how old the list may become, if neither ``HTTPEntity/freshness`` nor the
  /// fetch does: `max-age`, less the header `Age`, is the time for which it stays fresh, and after `no-cache` or
  /// `no-store` the backend is asked at each fetch, if possible for what has changed. The answer 304 may renew it.
  /// `no-store` does not keep objects from being stored. All other directives are left out.
  ///
  /// May be used from any thread. A cancelled task cancels its request.
  public final class HTTPService: RemoteService {
    let description: HTTPDescription
    let entities: [String: HTTPEntity]
    let address: Address
    let transport: Transport

    /// A service.
    ///
    /// - Parameters:
    ///   - description: the backend. Its entities have different names, and relationships lead to none but these.
    ///   - configuration: proxies, certificates and so on. Redirections are never followed.
    ///   - credentials: returns the headers that identify the account; asked for before each request, and once more if
    ///     the backend has answered 401, with `true` then. They are not kept, and no error shows them.
    public init(
      _ description: HTTPDescription, configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
      credentials: (@Sendable (_ wereRefused: Bool) async throws -> [String: String])? = nil
    ) {
      let base = description.baseURL
      precondition(base.host() != nil, "The base URL has no host.")
      precondition(
        base.user() == nil && base.query() == nil && base.fragment() == nil,
        "The base URL has a user, a query or a fragment.")
      entities = HTTPEntity.families(description.entities)
      for entity in entities.values {
        for (name, relationship) in entity.relationships {
          precondition(
            entities[relationship.entityName] != nil,
            "\(entity.name).\(name): the entity \(relationship.entityName) is not described.")
        }
      }
      self.description = description
      address = Address(base)
      transport = Transport(description, configuration, credentials)
    }

    deinit { transport.client.shutdown { _ in } }

    /// Closes all connections. Requests that have no answer yet fail, and so do later ones.
    public func shutdown() async { try? await transport.client.shutdown() }

    /// The list of an entity that has a path.
    public func query(for fetch: RemoteFetch) -> RemoteQuery? {
      guard let entity = entities[fetch.entityName], entity.path != nil else { return nil }
      return QueryWriter(description: description, entity: entity, values: values).query(fetch)
    }

    /// A random identifier, if clients choose them; the one that the object has, if the identifier is also an
    /// attribute.
    public func identifier(forNew entityName: String, values: [String: RemoteValue]) -> String? {
      guard description.repeating == .clientIdentifiers, let entity = entities[entityName] else { return nil }
      let attribute = entity.attributes.first { $0.value.key == entity.identifierKey }
      return attribute.flatMap { values[$0.key] }.flatMap(self.values.text) ?? UUID().uuidString.lowercased()
    }

    /// What the description says.
    public var repeating: RemoteRepeating { description.repeating }

    /// What the description says of an entity.
    public func freshness(of entityName: String) -> RemoteFreshness? { entities[entityName]?.freshness }

    var values: ValueWriter { ValueWriter(entities: entities, dates: description.dates) }

    /// An entity that is described, and its path.
    func collection(_ name: String) throws -> (entity: HTTPEntity, path: String) {
      guard let entity = entities[name], let path = entity.path else { throw RemoteFailure.unsupported }
      return (entity, path)
    }
  }
#endif
